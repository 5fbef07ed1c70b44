// Package client calls a Conclave server: any of its nodes, again where that is safe.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"conclave.example/clients/go/internal/nodes"
)

// Error says why a node refused a request, or that none answered.
type Error = nodes.Error

// Options say how a server is called.
type Options struct {
	// Addresses are base URLs of nodes, such as https://node1:8500, asked in a random order.
	Addresses []string
	// Token is the SecretID. Without it and TokenProvider, requests are anonymous.
	Token string
	// TokenProvider returns the SecretID of a live token.
	TokenProvider func(context.Context) (string, error)
	TLS           *tls.Config
	// HTTPClient is used in place of one that is made from TLS.
	HTTPClient *http.Client
	// Timeout is how long a call takes at most, its repetitions and Wait apart. Default 30 s.
	Timeout time.Duration
	// Header has more headers of all requests.
	Header http.Header
}

// Client is a server, and the token to call it with. It is safe for any number of goroutines.
type Client struct {
	options Options
	nodes   *nodes.Nodes
	at      atomic.Int64
	secret  atomic.Pointer[string]
}

// Meta is what an answer says beside its body.
type Meta struct {
	// Index is that of the answer, for the next blocking query.
	Index  uint64
	Header http.Header
}

// New returns a client.
func New(options Options) (*Client, error) {
	order, err := nodes.New(options.Addresses)
	if err != nil {
		return nil, err
	}
	if options.HTTPClient == nil {
		options.HTTPClient = nodes.NewHTTPClient(options.TLS)
	}
	if options.Timeout == 0 {
		options.Timeout = 30 * time.Second
	}
	c := &Client{options: options, nodes: order}
	if options.TokenProvider == nil {
		c.secret.Store(&options.Token)
	}
	return c, nil
}

// operation is what a method of the client asks for. Its path is below the address of a node, or a
// whole URL.
type operation struct {
	method, path, contentType string
	body                      any
}

func call[T any](ctx context.Context, c *Client, asked operation, query any) (T, Meta, error) {
	var made T
	answer, meta, err := c.send(ctx, asked, query, false)
	if err == nil {
		defer answer.Close()
		err = json.NewDecoder(answer).Decode(&made)
	}
	return made, meta, err
}

func callText(ctx context.Context, c *Client, asked operation, query any) (string, Meta, error) {
	answer, meta, err := c.send(ctx, asked, query, false)
	if err != nil {
		return "", meta, err
	}
	defer answer.Close()
	text, err := io.ReadAll(answer)
	return string(text), meta, err
}

func callStream(ctx context.Context, c *Client, asked operation, query any) (
	io.ReadCloser, Meta, error,
) {
	return c.send(ctx, asked, query, true)
}

// send repeats a request until a node takes it or the time is over. The caller closes the body,
// which a stream may read for longer.
func (c *Client) send(ctx context.Context, asked operation, query any, isStream bool) (
	io.ReadCloser, Meta, error,
) {
	target, wait, err := withQuery(asked.path, query)
	if err != nil {
		return nil, Meta{}, err
	}
	var body []byte
	stream, isOnce := asked.body.(io.Reader)
	if asked.body != nil && !isOnce {
		if body, err = json.Marshal(asked.body); err != nil {
			return nil, Meta{}, err
		}
	}
	deadline := time.Now().Add(c.options.Timeout + wait)
	order := c.nodes.From(int(c.at.Load()))
	for renewed := false; ; {
		url := target
		if strings.HasPrefix(target, "/") {
			url = order.Address() + target
		}
		if !isOnce {
			stream = bytes.NewReader(body)
		}
		answer, retryAfter, refused := c.attempt(ctx, asked, url, stream, deadline, isStream)
		c.at.Store(int64(order.At()))
		var known *Error
		switch {
		case refused == nil:
			index, _ := strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64)
			return answer.Body, Meta{index, answer.Header}, nil
		case !errors.As(refused, &known) || isOnce:
			return nil, Meta{}, refused
		case (known.Status == 401 || known.Code == "acl_not_found") && !renewed &&
			c.options.TokenProvider != nil:
			renewed = true
			c.secret.Store(nil)
			continue
		}
		// A node that answers so has done nothing: it has no leader, does not serve, or asks to wait.
		isRetried := known.Status == 429 || known.Status == 503 || known.Code == "unreachable"
		delay := order.Failed(retryAfter)
		if !isRetried || time.Now().Add(delay).After(deadline) {
			return nil, Meta{}, refused
		}
		select {
		case <-ctx.Done():
			return nil, Meta{}, ctx.Err()
		case <-time.After(delay):
		}
	}
}

func (c *Client) attempt(
	ctx context.Context, asked operation, url string, body io.Reader, deadline time.Time, isStream bool,
) (*http.Response, string, error) {
	secret := c.secret.Load()
	if secret == nil {
		made, err := c.options.TokenProvider(ctx)
		if err != nil {
			return nil, "", err
		}
		secret = &made
		c.secret.Store(secret)
	}
	limited, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(time.Until(deadline), cancel)
	request, err := http.NewRequestWithContext(limited, asked.method, url, body)
	if err != nil {
		cancel()
		return nil, "", err
	}
	request.Header = nodes.Headers(*secret)
	if asked.contentType != "" {
		request.Header.Set("Content-Type", asked.contentType)
	}
	for name, values := range c.options.Header {
		request.Header[name] = values
	}
	answer, err := c.options.HTTPClient.Do(request)
	if err != nil {
		cancel()
		refused := nodes.Unreachable(url, err)
		// A write that was sent may still happen.
		if asked.method != http.MethodGet && !errors.Is(err, syscall.ECONNREFUSED) {
			refused.Code = "outcome_unknown"
		}
		return nil, "", refused
	}
	if isStream {
		timer.Stop()
	}
	answer.Body = &closing{answer.Body, func() { timer.Stop(); cancel() }}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		return nil, answer.Header.Get("Retry-After"), nodes.ErrorOf(answer)
	}
	return answer, "", nil
}

// closing ends what limits the time of an answer with its body.
type closing struct {
	io.ReadCloser
	end func()
}

func (c *closing) Close() error {
	defer c.end()
	return c.ReadCloser.Close()
}

// fill puts parameters, as names and values, into a path. Where one would lead elsewhere, the path
// is empty.
func fill(path string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if value := pairs[i+1]; value == "" || value == "." || value == ".." {
			return ""
		}
		path = strings.Replace(path, "{"+pairs[i]+"}", url.PathEscape(pairs[i+1]), 1)
	}
	return path
}

// withQuery adds the fields of a struct to a path, and returns how long a blocking query waits.
func withQuery(path string, query any) (string, time.Duration, error) {
	if path == "" {
		return "", 0, errors.New(`a name or ID in a path must not be "", "." or ".."`)
	}
	values := url.Values{}
	if from := reflect.ValueOf(query); query != nil && !from.IsNil() {
		addFields(values, from.Elem())
	}
	if len(values) == 0 {
		return path, 0, nil
	}
	wait, _ := time.ParseDuration(values.Get("wait"))
	return path + "?" + values.Encode(), wait, nil
}

func addFields(values url.Values, of reflect.Value) {
	for i := 0; i < of.NumField(); i++ {
		name, field := of.Type().Field(i).Tag.Get("query"), of.Field(i)
		switch {
		case name == "":
			addFields(values, field)
		case field.Kind() == reflect.Bool && field.Bool():
			values.Set(name, "true")
		case field.Kind() == reflect.String && field.String() != "":
			values.Set(name, field.String())
		}
	}
}
