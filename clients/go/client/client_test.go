//go:debug asynctimerchan=0
//go:build go1.25

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"conclave.example/clients/go/client"
)

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// sent is a request, its body and when it came.
type sent struct {
	*http.Request
	body string
	at   time.Time
}

func (s sent) secret() string {
	return strings.TrimPrefix(s.Header.Get("Authorization"), "Bearer ")
}

type answerer func(*http.Request) (*http.Response, error)

// server answers each request with the next of its answers, and the last of them again.
type server struct {
	answers []answerer
	sent    []sent
}

func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		body, _ = io.ReadAll(request.Body)
	}
	at := min(len(s.sent), len(s.answers)-1)
	s.sent = append(s.sent, sent{request, string(body), time.Now()})
	return s.answers[at](request)
}

type object = map[string]any

func answer(status int, body any, headers ...string) answerer {
	text, isText := body.(string)
	if !isText {
		encoded, _ := json.Marshal(body)
		text = string(encoded)
	}
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return func(*http.Request) (*http.Response, error) {
		body := io.NopCloser(strings.NewReader(text))
		return &http.Response{StatusCode: status, Header: header, Body: body}, nil
	}
}

func failure(err error) answerer {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

func refusal(status int, code string, headers ...string) answerer {
	return answer(status, object{"status": status, "code": code, "detail": "it says why"}, headers...)
}

// silence is a node that never answers.
func silence(request *http.Request) (*http.Response, error) {
	<-request.Context().Done()
	return nil, request.Context().Err()
}

var unreached = failure(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})

// open returns a client of two nodes that give the answers.
func open(answers ...answerer) (*server, client.Options) {
	s := &server{answers: answers}
	return s, client.Options{
		Addresses: []string{"http://one:8500/", "http://two:8500"}, Token: "secret",
		HTTPClient: &http.Client{Transport: s},
	}
}

func made(t *testing.T, options client.Options) *client.Client {
	t.Helper()
	c, err := client.New(options)
	expect(t, "error", err, nil)
	return c
}

// inBubble runs a test in which time moves only when all wait.
func inBubble(t *testing.T, test func(t *testing.T)) { t.Helper(); synctest.Test(t, test) }

// refusedBy returns the error of a call.
func refusedBy(t *testing.T, err error) *client.Error {
	t.Helper()
	var refused *client.Error
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want an error of the client", err)
	}
	return refused
}

func TestFillsPathsAndQueries(t *testing.T) {
	s, options := open(answer(200, object{"Kind": "service-defaults"}, "X-Consul-Index", "12"))
	options.Header = http.Header{"X-Request-Id": {"6"}}
	query := &client.BlockingQuery{}
	query.Ns, query.Stale = "team", true
	entry, meta, err := made(t, options).ReadConfigEntry(
		client.WithHeader(t.Context(), "X-Request-ID", "7"), "service-defaults", "a/b ü", query)
	expect(t, "error", err, nil)
	expect(t, "url", s.sent[0].URL.RequestURI(),
		"/v1/config/service-defaults/a%2Fb%20%C3%BC?ns=team&stale=true")
	expect(t, "headers", s.sent[0].secret()+s.sent[0].Header.Get("X-Request-Id"), "secret7")
	expect(t, "entry", string(entry), `{"Kind":"service-defaults"}`)
	expect(t, "index", meta.Index, uint64(12))
	for _, id := range []string{"", ".", ".."} {
		if _, _, err := made(t, options).ReadPolicy(t.Context(), id, nil); err == nil {
			t.Errorf("%q is taken for a name", id)
		}
	}
	expect(t, "requests", len(s.sent), 1)
}

func TestSendsBodies(t *testing.T) {
	s, options := open(answer(200, object{"ID": "i"}))
	policy, _, err := made(t, options).CreatePolicy(t.Context(), client.Policy{Name: "p"}, nil)
	expect(t, "error", err, nil)
	expect(t, "id", policy.ID, "i")
	expect(t, "body", s.sent[0].body, `{"Name":"p"}`)
	expect(t, "type", s.sent[0].Header.Get("Content-Type"), "application/json")
	entry := client.ServiceDefaults{Kind: "service-defaults", Name: "web"}
	_, _, _ = made(t, options).WriteConfigEntry(t.Context(), entry, nil)
	expect(t, "entry", s.sent[1].body, `{"Kind":"service-defaults","Name":"web"}`)
}

func TestReadsTextsAndStreams(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, options := open(answer(200, `"10.0.0.1:8300"`))
		leader, _, err := made(t, options).ReadLeader(t.Context(), nil)
		expect(t, "leader", []any{leader, err}, []any{"10.0.0.1:8300", nil})
		s, options := open(answer(200, "bytes"))
		c := made(t, options)
		archive, _, err := c.SaveSnapshot(t.Context(), nil)
		expect(t, "error", err, nil)
		// A stream may be read for longer than a call takes.
		time.Sleep(time.Hour)
		expect(t, "is live", s.sent[0].Context().Err(), nil)
		text, _ := io.ReadAll(archive)
		expect(t, "archive", string(text), "bytes")
		expect(t, "close", archive.Close(), nil)
		expect(t, "is over", s.sent[0].Context().Err(), context.Canceled)
		_, _, _ = c.RestoreSnapshot(t.Context(), strings.NewReader("archive"), nil)
		expect(t, "sent", s.sent[1].body, "archive")
		s, options = open(refusal(503, "no_leader"))
		_, _, err = made(t, options).RestoreSnapshot(t.Context(), strings.NewReader("archive"), nil)
		expect(t, "a stream is sent once", []any{refusedBy(t, err).Code, len(s.sent)},
			[]any{"no_leader", 1})
		s, options = open(refusal(401, "unauthenticated"))
		options.TokenProvider = func(context.Context) (string, error) { return "s1", nil }
		_, _, err = made(t, options).RestoreSnapshot(t.Context(), strings.NewReader("archive"), nil)
		expect(t, "a stream is sent once", []any{refusedBy(t, err).Status, len(s.sent)},
			[]any{401, 1})
	})
}

func TestRepeatsWhatANodeDidNotDo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, options := open(refusal(503, "no_leader"), refusal(429, "too_many", "Retry-After", "3"),
			answer(200, object{"ID": "i"}))
		c := made(t, options)
		policy, _, err := c.CreatePolicy(t.Context(), client.Policy{Name: "p"}, nil)
		expect(t, "policy", []any{policy.ID, err}, []any{"i", nil})
		expect(t, "is another node", s.sent[0].URL.Host != s.sent[1].URL.Host, true)
		expect(t, "body", s.sent[2].body, `{"Name":"p"}`)
		expect(t, "at once", s.sent[1].at, s.sent[0].at)
		if waited := s.sent[2].at.Sub(s.sent[1].at); waited < 3*time.Second || waited > 5*time.Second {
			t.Errorf("waited %v", waited)
		}
		_, _, _ = c.CreatePolicy(t.Context(), client.Policy{Name: "q"}, nil)
		expect(t, "stays where it was answered", s.sent[3].URL.Host, s.sent[2].URL.Host)
	})
}

func TestRepeatsUntilTheTimeIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, options := open(refusal(503, "unavailable"))
		options.Timeout = 2 * time.Second
		start := time.Now()
		_, _, err := made(t, options).ReadPolicy(t.Context(), "p", nil)
		refused := refusedBy(t, err)
		expect(t, "refused", []any{refused.Status, refused.Code, refused.Error()},
			[]any{503, "unavailable", "it says why"})
		if asked := len(s.sent); asked < 5 || asked > 6 || time.Since(start) > 2*time.Second {
			t.Errorf("asked %d times in %v", asked, time.Since(start))
		}
	})
}

func TestGivesUpSilentNodes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, options := open(silence)
		c := made(t, options)
		start := time.Now()
		query := &client.BlockingQuery{}
		query.Index, query.Wait = "7", "5m"
		_, _, err := c.ReadPolicy(t.Context(), "p", query)
		expect(t, "code", refusedBy(t, err).Code, "unreachable")
		expect(t, "is a timeout", errors.Is(err, context.DeadlineExceeded), true)
		expect(t, "waited", time.Since(start), 348_750*time.Millisecond)
		// The next call goes to the other node.
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = c.ReadPolicy(limited, "p", nil)
		expect(t, "is over", errors.Is(err, context.DeadlineExceeded), true)
		expect(t, "requests", len(s.sent), 2)
		expect(t, "is another node", s.sent[0].URL.Host != s.sent[1].URL.Host, true)
	})
}

func TestWaitsAsLongAsANodeMayHold(t *testing.T) {
	for _, held := range []struct {
		wait string
		time time.Duration
	}{
		{"", 5 * time.Minute}, {"0s", 5 * time.Minute}, {"1m30.5s", 90_500 * time.Millisecond},
		{"10m", 10 * time.Minute}, {"1h", 10 * time.Minute},
	} {
		inBubble(t, func(t *testing.T) {
			_, options := open(silence)
			start := time.Now()
			query := &client.BlockingQuery{}
			query.Index, query.Wait = "7", held.wait
			_, _, err := made(t, options).ReadPolicy(t.Context(), "p", query)
			expect(t, "code", refusedBy(t, err).Code, "unreachable")
			expect(t, "waited", time.Since(start), held.time+held.time/16+30*time.Second)
		})
	}
}

func TestWaitsNoLongerForAStreamAfterAnIndex(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, options := open(silence)
		start := time.Now()
		_, _, err := made(t, options).StreamEvents(t.Context(), &client.StreamEventsQuery{Index: "7"})
		expect(t, "code", refusedBy(t, err).Code, "unreachable")
		expect(t, "waited", time.Since(start), 30*time.Second)
	})
}

func TestWaitsForASilentProviderNoLongerThanForANode(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, options := open(answer(200, []any{}))
		options.TokenProvider = func(ctx context.Context) (string, error) {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(time.Hour):
				return "late", nil
			}
		}
		start := time.Now()
		_, _, err := made(t, options).ListTokens(t.Context(), nil)
		expect(t, "is over", errors.Is(err, context.DeadlineExceeded), true)
		expect(t, "waited", time.Since(start), 30*time.Second)
		expect(t, "requests", len(s.sent), 0)
	})
}

func TestKnowsThatAWriteWasNotSent(t *testing.T) {
	s, options := open(answer(200, object{}))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := made(t, options).CreatePolicy(over, client.Policy{Name: "p"}, nil)
	expect(t, "is canceled", errors.Is(err, context.Canceled), true)
	var refused *client.Error
	isUnknown := errors.As(err, &refused) && refused.Code == "outcome_unknown"
	expect(t, "may have happened", []any{isUnknown, len(s.sent)}, []any{false, 0})
}

func TestTakesPoorHealthForAnAnswer(t *testing.T) {
	s, options := open(answer(429, object{"Healthy": false}))
	_, _, err := made(t, options).ReadHealth(t.Context(), nil)
	refused := refusedBy(t, err)
	expect(t, "refused", []any{refused.Status, refused.Problem["Healthy"], len(s.sent)},
		[]any{429, false, 1})
}

func TestRepeatsReadsThatWereCutOff(t *testing.T) {
	s, options := open(failure(io.ErrUnexpectedEOF), answer(200, []any{}),
		unreached, answer(200, object{"ID": "i"}),
		failure(syscall.ECONNRESET))
	c := made(t, options)
	tokens, _, err := c.ListTokens(t.Context(), nil)
	expect(t, "tokens", []any{len(tokens), err}, []any{0, nil})
	// A write is repeated only if no node was reached.
	_, _, err = c.CreatePolicy(t.Context(), client.Policy{Name: "p"}, nil)
	expect(t, "error", err, nil)
	_, _, err = c.CreatePolicy(t.Context(), client.Policy{Name: "p"}, nil)
	expect(t, "code", refusedBy(t, err).Code, "outcome_unknown")
	expect(t, "cause", errors.Is(err, syscall.ECONNRESET), true)
	expect(t, "host alone", refusedBy(t, err).Detail,
		s.sent[4].URL.Host+" did not answer (connection reset by peer)")
	expect(t, "requests", len(s.sent), 5)
	// This changes nothing, and is sent again.
	s, options = open(failure(syscall.ECONNRESET), answer(200, object{}))
	_, _, err = made(t, options).LintPolicy(t.Context(), client.LintPolicyBody{}, nil)
	expect(t, "lint", []any{err, len(s.sent)}, []any{nil, 2})
}

func TestReturnsProblems(t *testing.T) {
	_, options := open(
		answer(400, object{"code": "invalid", "detail": "id is no UUID", "pointer": "/ID"}),
		answer(502, "<html>bad gateway</html>"), answer(200, "<html>log in</html>"))
	c := made(t, options)
	_, _, err := c.ReadPolicy(t.Context(), "p", nil)
	refused := refusedBy(t, err)
	expect(t, "refused", []any{refused.Status, refused.Code, err.Error(), refused.Problem["pointer"]},
		[]any{400, "invalid", "id is no UUID", "/ID"})
	_, _, err = c.ReadPolicy(t.Context(), "p", nil)
	expect(t, "code", refusedBy(t, err).Code, "")
	_, _, err = c.ReadPolicy(t.Context(), "p", nil)
	expect(t, "code", refusedBy(t, err).Code, "invalid")
}

func TestAsksTheProviderOnceMore(t *testing.T) {
	s, options := open(refusal(403, "acl_not_found"), answer(200, []any{}),
		refusal(403, "acl_not_found"))
	secrets := []string{"s1", "s2", "s3"}
	options.TokenProvider = func(context.Context) (string, error) {
		if len(secrets) == 0 {
			return "", errors.New("there is none")
		}
		secret := secrets[0]
		secrets = secrets[1:]
		return secret, nil
	}
	c := made(t, options)
	_, _, err := c.ListTokens(t.Context(), nil)
	expect(t, "error", err, nil)
	_, _, err = c.ListTokens(t.Context(), nil)
	expect(t, "code", refusedBy(t, err).Code, "acl_not_found")
	var sent []string
	for _, one := range s.sent {
		sent = append(sent, one.secret())
	}
	expect(t, "secrets", sent, []string{"s1", "s2", "s2", "s3"})
	_, _, err = c.ListTokens(t.Context(), nil)
	expect(t, "error", err.Error(), "there is none")
}

func TestSendsNothingWithABlankToken(t *testing.T) {
	s, options := open(refusal(403, "acl_not_found"), answer(200, []any{}))
	secrets := []string{"", "\n", "s1", " ", "s2"}
	options.TokenProvider = func(context.Context) (string, error) {
		secret := secrets[0]
		secrets = secrets[1:]
		return secret, nil
	}
	c := made(t, options)
	for range 3 {
		_, _, err := c.ListTokens(t.Context(), nil)
		refused := refusedBy(t, err)
		expect(t, "refused", []any{refused.Status, refused.Code, refused.Error()},
			[]any{0, "unreachable", "the provider of the token failed"})
	}
	_, _, err := c.ListTokens(t.Context(), nil)
	expect(t, "error", err, nil)
	expect(t, "secrets", []any{len(s.sent), s.sent[0].secret(), s.sent[1].secret()},
		[]any{2, "s1", "s2"})
}
