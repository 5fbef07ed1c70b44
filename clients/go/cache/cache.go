// Package cache decides in this process by rights that follow the server. The README has what it
// promises.
package cache

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"conclave.example/clients/go/internal/nodes"
	"conclave.example/clients/go/rights"
)

// State is how much a cache knows.
type State string

// The states of a cache.
const (
	// Fresh means that what was taken away more than FreshFor ago is denied.
	Fresh State = "fresh"
	// Stale means that nothing was heard since.
	Stale State = "stale"
	// CutOff means that nothing was heard for MaxStale, or not yet.
	CutOff State = "cut_off"
	// HasEnded means that the token has ended, its feed is too large, or the cache is closed.
	HasEnded State = "ended"
)

// The reasons of denials beside those of rights.Reason.
const (
	NotReady       rights.Reason = "not_ready"
	CutOffFromAll  rights.Reason = "cut_off"
	Ended          rights.Reason = "ended"
	TooLarge       rights.Reason = "too_large"
	Closed         rights.Reason = "closed"
	askTimeout                   = 5 * time.Second
	evaluationPath               = "/access/v1/evaluation"
)

// Options say how the rights of a token are cached.
type Options struct {
	// Addresses are base URLs of nodes, such as https://node1:8500, asked in a random order.
	Addresses []string
	// Token is the SecretID. Without it and TokenProvider, requests are anonymous.
	Token string
	// TokenProvider returns the SecretID of a live token. A blank one is a failure.
	TokenProvider func(context.Context) (string, error)
	TLS           *tls.Config
	// HTTPClient is used in place of one that is made from TLS.
	HTTPClient *http.Client
	// FreshFor is how old a decision may be: 1 s to 10 min. Default 10 s.
	FreshFor time.Duration
	// MaxStale is how long decisions go on without an answer: FreshFor to 24 h. Default 60 s.
	MaxStale time.Duration
	// Extend is whether they go on by the last feed after that, instead of being denials.
	Extend bool
	// Sources is whether Explain says where a rule is written.
	Sources bool
	// Consistent reads the feed in mode consistent, which trusts no clock of a node.
	Consistent bool
	// AskServer is whether CanOrAsk asks a node where the cache cannot decide.
	AskServer bool
}

// EventKind is a kind of events.
type EventKind string

// The kinds of events.
const (
	StateEvent  EventKind = "state"
	RightsEvent EventKind = "rights"
	ErrorEvent  EventKind = "error"
)

// Event is a change of the state, of the rights, or a failure in a sentence without secrets.
type Event struct {
	Kind    EventKind
	State   State
	Index   uint64
	Message string
}

// Explanation is a decision with the state in which it was made and, with Sources, where the rule
// is written.
type Explanation struct {
	rights.Decision
	State   State
	Sources []rights.Source
}

// Metrics counts queries. Age is that of what is known.
type Metrics struct {
	Queries, Changed, Unchanged, Failures, Refusals uint64
	Age                                             time.Duration
}

// Cache has the rights of one token in this process. It is safe for any number of goroutines.
type Cache struct {
	options Options
	started time.Time
	known   atomic.Pointer[known]
	// current is the node and the token that are asked.
	current atomic.Pointer[[2]string]
	counts  counts
	cancel  context.CancelFunc

	mu        sync.Mutex // guards what follows, and writes of known
	listeners []func(Event)
	events    []Event
	isTelling bool
	told      State
	timer     *time.Timer
	ready     chan struct{}
	isReady   bool
}

// counts of what happened.
type counts struct{ queries, changed, unchanged, failures, refusals atomic.Uint64 }

// known is what queries have brought. It does not change.
type known struct {
	remembering *remembering
	// at is when the newest query was sent that was answered.
	at, expiresAt time.Duration
	end           rights.Reason
	endedAt       time.Duration
}

type news struct {
	made              *rights.Rights
	index             uint64
	sentAt, expiresAt time.Duration
}

// complete sets defaults, and refuses what makes no sense.
func (options *Options) complete() error {
	if options.FreshFor == 0 {
		options.FreshFor = 10 * time.Second
	}
	if options.MaxStale == 0 {
		options.MaxStale = max(time.Minute, options.FreshFor)
	}
	if options.FreshFor < time.Second || options.FreshFor > 10*time.Minute {
		return errors.New("FreshFor is 1s to 10m")
	}
	if options.MaxStale < options.FreshFor || options.MaxStale > 24*time.Hour {
		return errors.New("MaxStale is FreshFor to 24h")
	}
	if options.HTTPClient == nil {
		options.HTTPClient = nodes.NewHTTPClient(options.TLS)
	}
	_, err := nodes.New(options.Addresses)
	return err
}

// Open follows the rights of a token until Close.
func Open(options Options) (*Cache, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	order, _ := nodes.New(options.Addresses)
	ctx, cancel := context.WithCancel(context.Background())
	c := &Cache{
		options: options, started: time.Now(), cancel: cancel, told: CutOff, ready: make(chan struct{}),
	}
	c.known.Store(&known{at: -never / 2, expiresAt: never})
	f := &follower{cache: c, nodes: order, hold: options.FreshFor * 4 / 10}
	f.forget(options.Token, options.TokenProvider == nil)
	c.current.Store(&[2]string{order.Address(), options.Token})
	go f.follow(ctx)
	return c, nil
}

// now is the time since the cache was opened, by the monotonic clock.
func (c *Cache) now() time.Duration { return time.Since(c.started) }

// Can reports whether an action on a resource is allowed, in the namespace of the token unless
// another is given.
func (c *Cache) Can(resourceType, action, id string, namespace ...string) bool {
	decision, _ := c.decide(resourceType, action, id, namespace)
	return decision.Allow
}

// Explain is Can with the reason and the rule.
func (c *Cache) Explain(resourceType, action, id string, namespace ...string) Explanation {
	decision, known := c.decide(resourceType, action, id, namespace)
	made := Explanation{Decision: decision, State: c.stateOf(known)}
	if decision.Rule != nil {
		made.Sources = known.remembering.rights.SourcesOf(decision.Rule)
	}
	return made
}

// CanOrAsk is Can; with AskServer a node is asked where the cache cannot decide. An error is a
// denial.
func (c *Cache) CanOrAsk(
	ctx context.Context, resourceType, action, id string, namespace ...string,
) bool {
	decision, _ := c.decide(resourceType, action, id, namespace)
	undecided := []rights.Reason{NotReady, TooLarge, rights.Version}
	if !c.options.AskServer || !slices.Contains(undecided, decision.Reason) {
		return decision.Allow
	}
	return c.ask(ctx, resourceType, action, id, namespace)
}

func (c *Cache) decide(resourceType, action, id string, namespace []string) (
	rights.Decision, *known,
) {
	known := c.known.Load()
	state := c.stateOf(known)
	switch {
	case known.end != "":
		return rights.Decision{Reason: known.end}, known
	case state == HasEnded:
		return rights.Decision{Reason: Ended}, known
	case known.remembering == nil:
		return rights.Decision{Reason: NotReady}, known
	case state == CutOff && !c.options.Extend:
		return rights.Decision{Reason: CutOffFromAll}, known
	}
	place := known.remembering.rights.Namespace
	if len(namespace) > 0 {
		place = namespace[0]
	}
	return known.remembering.decide(question{resourceType, action, id, place}), known
}

// State returns how much the cache knows.
func (c *Cache) State() State { return c.stateOf(c.known.Load()) }

func (c *Cache) stateOf(known *known) State {
	now := c.now()
	switch age := now - known.at; {
	case known.end != "" || now >= known.expiresAt:
		return HasEnded
	case age <= c.options.FreshFor:
		return Fresh
	case age <= c.options.MaxStale:
		return Stale
	}
	return CutOff
}

// Rights returns the rights of the newest feed, nil without one.
func (c *Cache) Rights() *rights.Rights {
	if known := c.known.Load(); known.remembering != nil {
		return known.remembering.rights
	}
	return nil
}

// Ready waits for the first answer, which may be that the token has ended. It returns the error of
// the context.
func (c *Cache) Ready(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endedFor returns for how long the token has been known to have ended.
func (c *Cache) endedFor() time.Duration {
	known := c.known.Load()
	if known.end == "" {
		return c.now() - known.expiresAt
	}
	return c.now() - known.endedAt
}

// On calls a listener with events, one after the other.
func (c *Cache) On(listener func(Event)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, listener)
}

// Metrics returns counts of queries, and the age of what is known.
func (c *Cache) Metrics() Metrics {
	n := &c.counts
	return Metrics{
		n.queries.Load(), n.changed.Load(), n.unchanged.Load(), n.failures.Load(), n.refusals.Load(),
		c.now() - c.known.Load().at,
	}
}

// Close ends the query. From now on everything is denied.
func (c *Cache) Close() {
	c.cancel()
	c.end(Closed)
}

func (c *Cache) accept(news news) {
	c.mu.Lock()
	defer c.unlock()
	now := *c.known.Load()
	if now.end == Closed {
		return
	}
	now.end, now.at = "", news.sentAt
	if news.expiresAt != never || news.made != nil {
		now.expiresAt = news.expiresAt
	}
	if news.made != nil {
		now.remembering = &remembering{rights: news.made}
	}
	c.known.Store(&now)
	if news.made != nil {
		c.events = append(c.events, Event{Kind: RightsEvent, Index: news.index})
	}
	c.settle()
}

func (c *Cache) end(why rights.Reason) {
	c.mu.Lock()
	defer c.unlock()
	if now := *c.known.Load(); now.end != Closed {
		now.end, now.endedAt, now.remembering = why, c.now(), nil
		c.known.Store(&now)
		c.settle()
	}
}

// settle tells a change of the state, and waits for the next. The caller holds mu.
func (c *Cache) settle() {
	if c.timer != nil {
		c.timer.Stop()
	}
	now := c.known.Load()
	if !c.isReady && (now.remembering != nil || now.end != "") {
		c.isReady = true
		close(c.ready)
	}
	state := c.stateOf(now)
	if state != c.told {
		c.told = state
		c.events = append(c.events, Event{Kind: StateEvent, State: state})
	}
	next := now.expiresAt
	switch state {
	case HasEnded:
		return
	case Fresh:
		// The last moment of a state belongs to it.
		next = min(next, now.at+c.options.FreshFor+1)
	case Stale:
		next = min(next, now.at+c.options.MaxStale+1)
	}
	if next < never {
		c.timer = time.AfterFunc(next-c.now(), func() {
			c.mu.Lock()
			defer c.unlock()
			c.settle()
		})
	}
}

func (c *Cache) failed(sentence string) {
	c.mu.Lock()
	defer c.unlock()
	if c.known.Load().end != Closed {
		c.events = append(c.events, Event{Kind: ErrorEvent, Message: sentence})
	}
}

// unlock tells the events outside mu, in their order: a listener may use the cache.
func (c *Cache) unlock() {
	for !c.isTelling && len(c.events) > 0 {
		listeners, events := slices.Clone(c.listeners), c.events
		c.events, c.isTelling = nil, true
		c.mu.Unlock()
		for _, event := range events {
			for _, listener := range listeners {
				listener(event)
			}
		}
		c.mu.Lock()
		c.isTelling = false
	}
	c.mu.Unlock()
}

func (c *Cache) send(
	ctx context.Context, secret, url, etag string, body []byte,
) (*http.Response, error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = nodes.Headers(secret)
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return c.options.HTTPClient.Do(request)
}

func (c *Cache) ask(
	ctx context.Context, resourceType, action, id string, namespace []string,
) bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	type object map[string]any
	resource := object{"type": resourceType, "id": id}
	if len(namespace) > 0 {
		resource["properties"] = object{"namespace": namespace[0]}
	}
	body, _ := json.Marshal(object{
		"subject":  object{"type": "token", "id": "self"},
		"action":   object{"name": action},
		"resource": resource,
	})
	current := c.current.Load()
	answer, err := c.send(ctx, current[1], current[0]+evaluationPath, "", body)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var decided struct{ Decision bool }
	text, err := io.ReadAll(io.LimitReader(answer.Body, feedBytes))
	return err == nil && answer.StatusCode == 200 && json.Unmarshal(text, &decided) == nil &&
		decided.Decision
}
