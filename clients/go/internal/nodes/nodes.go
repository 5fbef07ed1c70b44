// Package nodes has the addresses of nodes, when they are asked again, and how they refuse.
package nodes

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Nodes takes turns among nodes. It is for one goroutine.
type Nodes struct {
	addresses []string
	at        int
	failures  int
}

// New returns nodes in a random order.
func New(addresses []string) (*Nodes, error) {
	if len(addresses) == 0 {
		return nil, errors.New("addresses are missing")
	}
	made := &Nodes{}
	for _, at := range rand.Perm(len(addresses)) {
		address, err := url.Parse(addresses[at])
		if err != nil || address.Host == "" || address.User != nil ||
			(address.Scheme != "http" && address.Scheme != "https") {
			return nil, errors.New("an address is a URL of http or https without a user")
		}
		made.addresses = append(made.addresses, strings.TrimRight(addresses[at], "/"))
	}
	return made, nil
}

// From returns the same nodes for requests of their own, from one of them on.
func (n *Nodes) From(at int) *Nodes { return &Nodes{addresses: n.addresses, at: at} }

// At returns the place of the node to ask.
func (n *Nodes) At() int { return n.at }

// Address returns the node to ask.
func (n *Nodes) Address() string { return n.addresses[n.at] }

// Succeeded ends the delays.
func (n *Nodes) Succeeded() { n.failures = 0 }

const delay, delayMax = 100 * time.Millisecond, 5 * time.Second

// retryAfterMax is the longest pause that an answer is given: the next node may well answer.
const retryAfterMax = 30 * time.Second

// Failed turns to the next node, and returns when that is to be asked. The header Retry-After of an
// answer may be empty; it does not shorten the usual delay.
func (n *Nodes) Failed(retryAfter string) time.Duration {
	n.at = (n.at + 1) % len(n.addresses)
	n.failures++
	wait := time.Duration(0)
	if n.failures > 1 {
		wait = min(delay<<min(n.failures-2, 10), delayMax)
	}
	if seconds, err := strconv.ParseUint(retryAfter, 10, 31); err == nil {
		wait = max(wait, min(time.Duration(seconds)*time.Second, retryAfterMax))
	}
	return time.Duration(float64(wait) * (1 + rand.Float64()/2))
}

// Error says why a node refused a request: a problem document (RFC 9457), or what is known without
// one.
type Error struct {
	// Status is the HTTP status, 0 if no node answered.
	Status int
	// Code is what programs branch on, such as "not_found"; "unreachable" if no node answered.
	Code string
	// Detail is a sentence.
	Detail string
	// Problem has the members of the problem document.
	Problem map[string]any
	// RetryAfter is the header of this name.
	RetryAfter string
	// Cause is why no node answered.
	Cause error
}

func (e *Error) Error() string { return e.Detail }

// Unwrap returns why no node answered.
func (e *Error) Unwrap() error { return e.Cause }

const errorBytes = 1 << 20

var code = regexp.MustCompile(`^\w{1,40}$`)

// ErrorOf reads what an answer refuses with.
func ErrorOf(answer *http.Response) *Error {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, errorBytes))
	made := &Error{
		Status: answer.StatusCode, Detail: strings.TrimSpace(string(text)),
		RetryAfter: answer.Header.Get("Retry-After"),
	}
	if json.Unmarshal(text, &made.Problem) == nil && made.Problem != nil {
		if value, _ := made.Problem["code"].(string); code.MatchString(value) {
			made.Code = value
		}
		if value, isText := made.Problem["detail"].(string); isText {
			made.Detail = value
		}
	} else if strings.HasPrefix(made.Detail, "ACL not found") {
		made.Code = "acl_not_found"
	}
	if made.Detail == "" {
		made.Detail = fmt.Sprintf("status %d", answer.StatusCode)
	}
	return made
}

// Unreachable is a request to a URL that no answer came to.
func Unreachable(address string, err error) *Error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		why = "timeout"
	}
	detail := fmt.Sprintf("%s did not answer (%s)", Host(address), why)
	return &Error{Code: "unreachable", Detail: detail, Cause: err}
}

// Host returns the host and port of a URL.
func Host(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// ErrProvider is what is told of a provider that fails, or answers with a blank token.
var ErrProvider = &Error{Code: "unreachable", Detail: "the provider of the token failed"}

// IsBlank reports whether a secret would be sent as none: as the anonymous token.
func IsBlank(secret string) bool { return strings.TrimSpace(secret) == "" }

// Headers are those of a request with a token. Errors are asked for as problem documents.
func Headers(secret string) http.Header {
	headers := http.Header{"Accept": {"application/json, application/problem+json"}}
	if secret != "" {
		headers.Set("Authorization", "Bearer "+secret)
	}
	return headers
}

// idleConnections of one node: those of all that share a transport.
const idleConnections = 1_000

// connectTimeout is how long a node may take until a request can be sent.
const connectTimeout = 5 * time.Second

// NewHTTPClient returns a client for nodes. It follows no redirects.
func NewHTTPClient(config *tls.Config) *http.Client {
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		DialContext:     (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSClientConfig: config, TLSHandshakeTimeout: connectTimeout, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: time.Minute,
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: refuse}
}
