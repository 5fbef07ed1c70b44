//go:build go1.25

package cache_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave.example/clients/go/cache"
)

type object = map[string]any

// ask is a query that waits for its answer.
type ask struct {
	*http.Request
	answers chan<- *http.Response
}

// server answers queries as a test says. Time is that of the bubble of the test.
type server struct {
	t     *testing.T
	asks  chan ask
	count int
}

func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	answers := make(chan *http.Response, 1)
	s.asks <- ask{request, answers}
	select {
	case answer := <-answers:
		if answer == nil {
			return nil, errors.New("connection reset")
		}
		return answer, nil
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

// inBubble runs a test in which time moves only when all wait.
func inBubble(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &server{t: t, asks: make(chan ask, 10_000)}) })
}

func (s *server) next() ask {
	s.t.Helper()
	select {
	case one := <-s.asks:
		s.count++
		return one
	case <-time.After(time.Hour):
		s.t.Fatal("there is no query")
		panic("unreachable")
	}
}

func (s *server) options() cache.Options {
	return cache.Options{
		Addresses: []string{"http://one:8500"}, Token: "secret", HTTPClient: &http.Client{Transport: s},
	}
}

func (s *server) open(change func(*cache.Options)) *cache.Cache {
	s.t.Helper()
	options := s.options()
	if change != nil {
		change(&options)
	}
	made, err := cache.Open(options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(made.Close)
	return made
}

// ready opens a cache that has a feed, and returns it with the query that is held then.
func (s *server) ready(change func(*cache.Options), keys ...string) (*cache.Cache, ask) {
	s.t.Helper()
	made := s.open(change)
	s.next().feed(10, keys)
	return made, s.next()
}

func (a ask) with(status int, headers map[string]string, body any) {
	a.answers <- answerOf(status, headers, body)
	synctest.Wait()
}

func answerOf(status int, headers map[string]string, body any) *http.Response {
	text, isText := body.(string)
	if !isText && body != nil {
		encoded, _ := json.Marshal(body)
		text = string(encoded)
	}
	answer := &http.Response{
		StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)),
	}
	for name, value := range headers {
		answer.Header.Set(name, value)
	}
	return answer
}

func (a ask) feed(index int, keys []string) { a.feedFor(index, keys, 0) }

// feedFor answers with a feed that allows to read some keys, of a token that expires.
func (a ask) feedFor(index int, keys []string, expiresInMs int) {
	body := feedOf(index, keys)
	if expiresInMs > 0 {
		body["ExpiresInMs"] = expiresInMs
	}
	etag := fmt.Sprintf("%q", strings.Join(keys, ","))
	a.with(200, heads("X-Consul-Index", index, "ETag", etag), body)
}

func (a ask) unchanged(index int) { a.with(304, heads("X-Consul-Index", index), nil) }

func (a ask) refuse(status int, code string) {
	a.with(status, nil, object{"code": code, "detail": "refused: " + a.secret()})
}

func (a ask) cut() {
	a.answers <- nil
	synctest.Wait()
}

func (a ask) secret() string {
	return strings.TrimPrefix(a.Header.Get("Authorization"), "Bearer ")
}

func heads(pairs ...any) map[string]string {
	made := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		made[pairs[i].(string)] = fmt.Sprint(pairs[i+1])
	}
	return made
}

func feedOf(index int, keys any) object {
	named := object{"key": object{
		"Exact": object{"read": keys}, "Prefix": object{}, "Other": []string{},
	}}
	set := object{"Match": "exact", "Name": "default", "Scalars": object{}, "Named": named}
	key := object{"Form": "named", "Actions": []string{"read", "write"}, "Default": "deny"}
	return object{
		"Version": 1, "AccessorID": "a", "Namespace": "default", "Index": index,
		"Grants":       object{"deny": []string{}, "read": []string{"read"}},
		"Resources":    object{"key": key},
		"Application":  object{"Resource": "key", "Action": "read"},
		"AnyByDefault": false,
		"Layers":       []any{object{"Layer": "own", "Sets": []any{set}}},
	}
}
