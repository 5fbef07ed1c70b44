// Package client calls a Conclave server: any of its nodes, again where that is safe.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
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
	// TokenProvider returns the SecretID of a live token; a blank one is a failure. It is asked at
	// the first call, and again when a token has ended; several goroutines may ask at once.
	TokenProvider func(context.Context) (string, error)
	// TLS has the authorities and the client certificate, if the system's are not meant.
	TLS *tls.Config
	// HTTPClient is used in place of one that is made from TLS.
	HTTPClient *http.Client
	// Timeout is how long a call takes at most, apart from what a node holds it. Default 30 s.
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

// headerKey is the key of the headers of a context.
type headerKey struct{}

// WithHeader returns a context whose calls have one header more, such as If-Match.
func WithHeader(ctx context.Context, name, value string) context.Context {
	header, _ := ctx.Value(headerKey{}).(http.Header)
	if header = header.Clone(); header == nil {
		header = http.Header{}
	}
	header.Set(name, value)
	return context.WithValue(ctx, headerKey{}, header)
}

// operation is what a method of the client asks for. Its path is below the address of a node, or a
// whole URL.
type operation struct {
	method, path, contentType string
	body                      any
}

// isRead marks the parameters of operations that change nothing, whatever their method is.
func (*ReadQuery) isRead() {}

func call[T any](ctx context.Context, c *Client, asked operation, query any) (T, Meta, error) {
	var made T
	answer, meta, err := c.send(ctx, asked, query, false)
	if err != nil {
		return made, meta, err
	}
	if err := json.NewDecoder(answer).Decode(&made); err != nil {
		refused := &Error{Status: 200, Code: "invalid", Detail: "the answer cannot be read", Cause: err}
		return made, meta, refused
	}
	return made, meta, nil
}

func callText(ctx context.Context, c *Client, asked operation, query any) (string, Meta, error) {
	answer, meta, err := c.send(ctx, asked, query, false)
	if err != nil {
		return "", meta, err
	}
	text, err := io.ReadAll(answer)
	return string(text), meta, err
}

func callStream(ctx context.Context, c *Client, asked operation, query any) (
	io.ReadCloser, Meta, error,
) {
	return c.send(ctx, asked, query, true)
}

// send repeats a request until a node takes it or the time is over. The caller closes a stream,
// which may be read for longer; other bodies have been read already.
func (c *Client) send(ctx context.Context, asked operation, query any, isStream bool) (
	io.ReadCloser, Meta, error,
) {
	target, held, err := withQuery(asked.path, query)
	if err != nil {
		return nil, Meta{}, err
	}
	if isStream {
		held = 0 // It begins at once.
	}
	var body []byte
	stream, isOnce := asked.body.(io.Reader)
	if asked.body != nil && !isOnce {
		if body, err = json.Marshal(asked.body); err != nil {
			return nil, Meta{}, err
		}
	}
	_, isRead := query.(interface{ isRead() })
	isRead = isRead || asked.method == http.MethodGet
	deadline := time.Now().Add(c.options.Timeout + held)
	order := c.nodes.From(int(c.at.Load()))
	for renewed := false; ; {
		secret, err := c.token(ctx, deadline)
		if err != nil {
			return nil, Meta{}, err
		}
		url := target
		if strings.HasPrefix(target, "/") {
			url = order.Address() + target
		}
		if !isOnce {
			stream = bytes.NewReader(body)
		}
		request, err := http.NewRequest(asked.method, url, stream)
		if err != nil {
			return nil, Meta{}, err
		}
		c.addHeaders(ctx, request, *secret, asked.contentType)
		answer, refused := c.attempt(ctx, request, deadline, isStream)
		if refused == nil {
			index, _ := strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64)
			return answer.Body, Meta{index, answer.Header}, nil
		}
		isEnded := refused.Status == 401 || refused.Code == "acl_not_found"
		if isEnded && c.options.TokenProvider != nil {
			c.secret.CompareAndSwap(secret, nil)
			if !renewed && !isOnce {
				renewed = true
				continue
			}
		}
		isRepeated := mayRepeat(refused, isRead)
		if refused.Status != 0 && !isRepeated {
			return nil, Meta{}, refused
		}
		delay := order.Failed(refused.RetryAfter)
		c.at.Store(int64(order.At()))
		if !isRepeated || isOnce || ctx.Err() != nil || time.Until(deadline) <= delay {
			return nil, Meta{}, refused
		}
		select {
		case <-ctx.Done():
			return nil, Meta{}, ctx.Err()
		case <-time.After(delay):
		}
	}
}

// mayRepeat reports whether nothing can have been done, and gives its code to what may have been.
func mayRepeat(refused *Error, isRead bool) bool {
	if refused.Status != 0 {
		// The node has no leader, does not serve, or asks to wait. A 429 that does not is an answer:
		// the cluster is not healthy.
		return (refused.Status == 429 && refused.RetryAfter != "") || refused.Status == 503
	}
	var of *net.OpError
	isUnsent := errors.As(refused, &of) && of.Op == "dial"
	if isRead || isUnsent {
		return true
	}
	refused.Code = "outcome_unknown"
	return false
}

// token returns the secret to send, if there is time to. It asks the provider if none is known.
func (c *Client) token(ctx context.Context, deadline time.Time) (*string, error) {
	if secret := c.secret.Load(); secret != nil {
		return secret, ctx.Err()
	}
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	made, err := c.options.TokenProvider(limited)
	if err == nil && nodes.IsBlank(made) {
		err = nodes.ErrProvider
	}
	if err == nil {
		c.secret.Store(&made)
	}
	return &made, err
}

func (c *Client) addHeaders(
	ctx context.Context, request *http.Request, secret, contentType string,
) {
	request.Header = nodes.Headers(secret)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	own, _ := ctx.Value(headerKey{}).(http.Header)
	for _, header := range []http.Header{c.options.Header, own} {
		maps.Copy(request.Header, header)
	}
}

func (c *Client) attempt(
	ctx context.Context, request *http.Request, deadline time.Time, isStream bool,
) (*http.Response, *Error) {
	limited, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(time.Until(deadline), func() { cancel(context.DeadlineExceeded) })
	end := func() { timer.Stop(); cancel(nil) }
	answer, err := c.options.HTTPClient.Do(request.WithContext(limited))
	if err == nil && answer.StatusCode >= 300 {
		defer end()
		defer answer.Body.Close()
		return nil, nodes.ErrorOf(answer)
	}
	if err == nil && isStream {
		timer.Stop()
		answer.Body = &closing{answer.Body, end}
		return answer, nil
	}
	defer end()
	if err == nil {
		var text []byte
		text, err = io.ReadAll(answer.Body)
		answer.Body.Close()
		if err == nil {
			answer.Body = io.NopCloser(bytes.NewReader(text))
			return answer, nil
		}
	}
	if cause := context.Cause(limited); cause != nil {
		err = cause
	}
	return nil, nodes.Unreachable(request.URL.String(), err)
}

// closing ends what a stream has begun, with its body.
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

// How long a node holds a blocking query without a wait, and at most; and what it may add to that,
// as a part of it.
const heldByDefault, heldMax, addedPart = 5 * time.Minute, 10 * time.Minute, 16

// withQuery adds the fields of a struct to a path, and returns for how long a node may hold the
// query.
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
	path += "?" + values.Encode()
	if strings.Trim(values.Get("index"), "0") == "" {
		return path, 0, nil
	}
	held, _ := time.ParseDuration(values.Get("wait"))
	if held <= 0 {
		held = heldByDefault
	}
	held = min(held, heldMax)
	return path, held + held/addedPart, nil
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
