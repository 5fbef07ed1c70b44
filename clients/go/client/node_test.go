//go:build node && go1.25

package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"conclave.example/clients/go/cache"
	"conclave.example/clients/go/client"
)

// node returns a client of the node that the environment names.
func node(t *testing.T, token string) *client.Client {
	t.Helper()
	addresses := strings.Split(os.Getenv("NODE_URL"), ",")
	return made(t, client.Options{Addresses: addresses, Token: token})
}

func root(t *testing.T) *client.Client { return node(t, os.Getenv("NODE_TOKEN")) }

// withRules creates a policy of the rules, and a token that has it.
func withRules(t *testing.T, name, rules string) (client.Policy, client.Token) {
	t.Helper()
	c := root(t)
	policy, _, err := c.CreatePolicy(t.Context(), client.Policy{Name: name, Rules: rules}, nil)
	expect(t, "error", err, nil)
	link := []client.Link{{ID: policy.ID}}
	token, _, err := c.CreateToken(t.Context(), client.Token{Policies: link}, nil)
	expect(t, "error", err, nil)
	return policy, token
}

func TestNodeIsCalled(t *testing.T) {
	c := root(t)
	entry := client.ServiceDefaults{Kind: "service-defaults", Name: "web/ü", Protocol: "http"}
	written, _, err := c.WriteConfigEntry(t.Context(), entry, nil)
	expect(t, "written", []any{written, err}, []any{true, nil})
	text, meta, err := c.ReadConfigEntry(t.Context(), entry.Kind, entry.Name, nil)
	expect(t, "error", err, nil)
	var read client.ServiceDefaults
	expect(t, "error", json.Unmarshal(text, &read), nil)
	expect(t, "entry", read.Protocol, "http")
	query := &client.BlockingQuery{}
	query.Index, query.Wait = meta.Header.Get("X-Consul-Index"), "10ms"
	_, again, err := c.ReadConfigEntry(t.Context(), entry.Kind, entry.Name, query)
	expect(t, "held", []any{again.Index, err}, []any{meta.Index, nil})
	leader, _, err := c.ReadLeader(t.Context(), nil)
	expect(t, "leader", []any{strings.Contains(leader, ":"), err}, []any{true, nil})

	policy, _, err := c.CreatePolicy(t.Context(), client.Policy{Name: "first"}, nil)
	expect(t, "error", err, nil)
	ctx := client.WithHeader(t.Context(), "If-Match", `"1"`)
	_, _, err = c.UpdatePolicy(ctx, policy.ID, policy, nil)
	expect(t, "another version", refusedBy(t, err).Status, http.StatusPreconditionFailed)
	_, _, err = c.CreatePolicy(t.Context(), client.Policy{Name: "no name"}, nil)
	refused := refusedBy(t, err)
	expect(t, "refused", []any{refused.Status, refused.Code != ""}, []any{400, true})
	_, _, err = node(t, "d0a3c6f0-0000-4000-8000-000000000000").ReadOwnToken(t.Context(), nil)
	expect(t, "unknown token", refusedBy(t, err).Code, "acl_not_found")
}

// Whatever a node answers fits into the types that were generated.
func TestNodeIsReadWithoutParameters(t *testing.T) {
	withRules(t, "read", `operator = "read"`)
	c := reflect.ValueOf(root(t))
	isRead := regexp.MustCompile("^(List|Read|Lint|Export)")
	read := 0
	for i := range c.NumMethod() {
		name, method := c.Type().Method(i).Name, c.Method(i)
		if kind := method.Type(); !isRead.MatchString(name) || kind.NumIn() != 2 {
			continue
		}
		answers := method.Call([]reflect.Value{
			reflect.ValueOf(t.Context()), reflect.Zero(method.Type().In(1)),
		})
		read++
		err, _ := answers[2].Interface().(error)
		// Some of what there could be is not there: the node is none of those that have it.
		if err != nil && refusedBy(t, err).Status < 400 {
			t.Errorf("%s: %v: %v", name, err, errors.Unwrap(err))
		}
	}
	expect(t, "enough is read", read > 30, true)
}

func TestNodeDecides(t *testing.T) {
	const rules = `acl = "read"  key_prefix "orders/read/" { policy = "read" }`
	_, token := withRules(t, "decisions", rules)
	pdp, err := client.NewAuthZEN(client.Options{
		Addresses: strings.Split(os.Getenv("NODE_URL"), ","), Token: token.SecretID,
	})
	expect(t, "error", err, nil)
	self := client.EvaluateSubjectBody{Type: "token", ID: "self"}
	action := client.EvaluateActionBody{Name: "read"}
	decision, err := pdp.Evaluate(t.Context(), client.EvaluateBody{
		Subject: self, Action: action, Resource: client.EvaluateSubjectBody{Type: "acl"},
	})
	expect(t, "decision", []any{decision.Decision, err}, []any{true, nil})
	many, err := pdp.Evaluations(t.Context(), client.EvaluateAllBody{
		Subject: &self, Action: &action,
		Evaluations: []map[string]any{
			{"resource": object{"type": "orders", "id": "17"}},
			{"resource": object{"type": "bills", "id": "17"}},
		},
	})
	expect(t, "error", err, nil)
	expect(t, "decisions", []any{many[0].Decision, many[1].Decision}, []any{true, false})
	none := int64(0)
	found, err := pdp.SearchActions(t.Context(), client.SearchActionsBody{
		Subject: self, Resource: client.EvaluateSubjectBody{Type: "orders", ID: "17"},
		Page: &client.SearchSubjectsPageBody{Limit: &none},
	})
	expect(t, "error", err, nil)
	expect(t, "page", []any{len(found.Results), found.Page.Total}, []any{0, int64(1)})
}

func TestNodeIsFollowed(t *testing.T) {
	policy, token := withRules(t, "rights", `key_prefix "orders/read/" { policy = "read" }`)
	c, err := cache.Open(cache.Options{
		Addresses: strings.Split(os.Getenv("NODE_URL"), ","), Token: token.SecretID, Sources: true,
	})
	expect(t, "error", err, nil)
	defer c.Close()
	events := make(chan cache.Event, 100)
	c.On(func(event cache.Event) { events <- event })
	next := func() cache.Event {
		t.Helper()
		select {
		case event := <-events:
			return event
		case <-time.After(30 * time.Second):
			t.Fatal("there is no event")
			panic("unreachable")
		}
	}
	expect(t, "ready", c.Ready(t.Context()), nil)
	for next().Kind != cache.StateEvent {
	}
	why := c.Explain("orders", "read", "17")
	expect(t, "allowed", []any{why.Allow, why.State}, []any{true, cache.Fresh})
	expect(t, "rule", why.Rule.Name, "orders/read/")
	expect(t, "line", why.Sources[0].Line, 1)
	expect(t, "denied", c.Can("orders", "write", "17"), false)

	policy.Rules = ""
	_, _, err = root(t).UpdatePolicy(t.Context(), policy.ID, policy, nil)
	expect(t, "error", err, nil)
	expect(t, "event", next().Kind, cache.RightsEvent)
	expect(t, "taken", c.Can("orders", "read", "17"), false)
	_, _, err = root(t).DeleteToken(t.Context(), token.AccessorID, nil)
	expect(t, "error", err, nil)
	expect(t, "event", next().State, cache.HasEnded)
	expect(t, "reason", c.Explain("orders", "read", "17").Reason, cache.Ended)
}
