//go:build go1.25

package client_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"conclave.example/clients/go/client"
)

var question = client.EvaluateBody{
	Subject:  client.EvaluateSubjectBody{Type: "user", ID: "alice"},
	Action:   client.EvaluateActionBody{Name: "read"},
	Resource: client.EvaluateSubjectBody{Type: "acl"},
}

const asked = `{"subject":{"type":"user","id":"alice"},"action":{"name":"read"},` +
	`"resource":{"type":"acl","id":""}}`

func TestUsesTheEndpointsOfAConfiguration(t *testing.T) {
	const url = "https://pdp.example/tenant"
	s, options := open(
		answer(200, object{
			"policy_decision_point": url, "access_evaluation_endpoint": "https://pdp.example/decide",
		}),
		answer(200, object{"decision": true, "context": object{"id": 7}}),
		answer(200, object{"policy_decision_point": "https://other.example"}))
	options.Addresses = []string{url}
	found, err := client.DiscoverAuthZEN(t.Context(), options)
	expect(t, "error", err, nil)
	expect(t, "url", s.sent[0].URL.String(),
		"https://pdp.example/.well-known/authzen-configuration/tenant")
	// Whoever answers there does not get the token.
	expect(t, "secret", s.sent[0].secret(), "")
	decision, err := found.Evaluate(t.Context(), question)
	expect(t, "error", err, nil)
	expect(t, "decision", decision, client.Decision{Decision: true, Context: object{"id": 7.0}})
	expect(t, "url", s.sent[1].URL.String(), "https://pdp.example/decide")
	expect(t, "secret", s.sent[1].secret(), "secret")
	expect(t, "body", s.sent[1].body, asked)
	_, err = found.SearchSubjects(t.Context(), client.SearchSubjectsBody{})
	expect(t, "error", err.Error(), "the server has no search_subject_endpoint")
	if _, err = client.DiscoverAuthZEN(t.Context(), options); err == nil {
		t.Error("the configuration of another server is taken")
	}
}

func TestUsesThePathsOfTheSpecification(t *testing.T) {
	s, options := open(answer(200, object{"decision": "true"}),
		answer(200, object{"evaluations": []any{object{}}}), answer(200, object{"decision": false}),
		failure(syscall.ECONNRESET), answer(403, "Permission denied"))
	pdp, err := client.NewAuthZEN(options)
	expect(t, "error", err, nil)
	// An odd answer is no decision.
	made, err := pdp.Evaluate(t.Context(), question)
	expect(t, "odd", []any{made.Decision, refusedBy(t, err).Code}, []any{false, "invalid"})
	many := client.EvaluateAllBody{Subject: &question.Subject}
	_, err = pdp.Evaluations(t.Context(), many)
	expect(t, "odd", refusedBy(t, err).Code, "invalid")
	one, err := pdp.Evaluations(t.Context(), many)
	expect(t, "one", []any{one, err}, []any{[]client.Decision{{}}, nil})
	// Nothing is changed by a question, so that one which was cut off is sent again.
	_, err = pdp.SearchSubjects(t.Context(), client.SearchSubjectsBody{})
	expect(t, "status", refusedBy(t, err).Status, 403)
	_, _ = pdp.SearchResources(t.Context(), client.SearchResourcesBody{})
	_, _ = pdp.SearchActions(t.Context(), client.SearchActionsBody{})
	var paths []string
	for _, one := range s.sent {
		paths = append(paths, one.URL.Path)
	}
	expect(t, "paths", paths, []string{
		"/access/v1/evaluation", "/access/v1/evaluations", "/access/v1/evaluations",
		"/access/v1/search/subject", "/access/v1/search/subject", "/access/v1/search/resource",
		"/access/v1/search/action",
	})
}

func TestTrustsTheAuthoritiesItIsGiven(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/status/leader" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			_, _ = w.Write([]byte(`[]`))
		}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	authorities := x509.NewCertPool()
	authorities.AddCert(server.Certificate())
	options := client.Options{
		Addresses: []string{server.URL}, TLS: &tls.Config{RootCAs: authorities},
	}
	_, _, err := made(t, options).ListTokens(t.Context(), nil)
	expect(t, "error", err, nil)
	// A redirect would take the token elsewhere.
	_, _, err = made(t, options).ReadLeader(t.Context(), nil)
	expect(t, "status", refusedBy(t, err).Status, 302)
	options.TLS = nil
	_, _, err = made(t, options).CreatePolicy(t.Context(), client.Policy{Name: "p"}, nil)
	var unknown x509.UnknownAuthorityError
	expect(t, "another authority", errors.As(err, &unknown), true)
}
