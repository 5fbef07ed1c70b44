package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"conclave.example/clients/go/internal/nodes"
	"conclave.example/clients/go/rights"
)

const (
	path = "/v1/acl/token/self/rights"
	// What a node may add to a hold, as a part of it, and what the network may.
	addedPart, slackPart = 16, 4
	slackMin             = 250 * time.Millisecond
	answerMin            = time.Second
	earlyDelay           = 100 * time.Millisecond
	// feedBytes is the most that a server's setting allows for a feed.
	feedBytes = 64 << 20
	never     = time.Duration(1<<63 - 1)
	// anonymous is the SecretID of the anonymous token.
	anonymous = "anonymous"
)

// errTokenLost is what a node did whose feed is that of the anonymous token, although another one
// was sent.
var errTokenLost = errors.New("did not get the token: a proxy may remove the header Authorization")

// follower asks for the feed of one token: one held query at a time, to one node after another.
type follower struct {
	cache *Cache
	nodes *nodes.Nodes
	// hold is four tenths of FreshFor, so that two holds fit into it.
	hold   time.Duration
	secret string
	// hasSecret is false until the provider has named a token.
	hasSecret bool
	etag      string
	index     uint64
	// holds is whether the next query is held. After a failure it is not, to be answered at once.
	holds bool
	// doubts is whether an index was below an earlier one: a consistent answer has to confirm it.
	doubts bool
	// renewAt is when the provider is asked for the next token.
	renewAt time.Duration
}

// follow asks until the cache is closed, or its token has ended for good.
func (f *follower) follow(ctx context.Context) {
	timer := time.NewTimer(0)
	for goesOn := true; goesOn; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		var wait time.Duration
		wait, goesOn = f.step(ctx)
		timer.Reset(wait)
	}
}

// step asks once, and returns when to ask again, if at all.
func (f *follower) step(ctx context.Context) (time.Duration, bool) {
	if !f.hasToken(ctx) {
		return f.nodes.Failed(""), true
	}
	counts := &f.cache.counts
	counts.queries.Add(1)
	address, isConsistent := f.nodes.Address(), f.cache.options.Consistent || f.doubts
	query := url.Values{}
	if f.cache.options.Sources {
		query.Set("sources", "true")
	}
	if isConsistent {
		query.Set("consistent", "true")
	}
	timeout := max(answerMin, f.hold)
	if f.holds {
		query.Set("index", strconv.FormatUint(f.index, 10))
		query.Set("wait", fmt.Sprintf("%dms", f.hold.Milliseconds()))
		timeout = f.hold + f.hold/addedPart + max(slackMin, f.hold/slackPart)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	f.cache.current.Store(&[2]string{address, f.secret})
	sentAt := f.cache.now()
	answer, err := f.cache.send(limited, f.secret, address+path+"?"+query.Encode(), f.etag, nil)
	if err != nil {
		return f.failed(nodes.Unreachable(address, err).Detail, "")
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 && (answer.StatusCode != 304 || f.etag == "") {
		return f.refused(address, answer)
	}
	wait, err := f.accept(answer, sentAt, isConsistent)
	if err == errTokenLost {
		return f.failed(nodes.Host(address)+" "+err.Error(), "")
	}
	if err != nil {
		return f.failed(nodes.Unreachable(address, err).Detail, "")
	}
	return wait, true
}

func (f *follower) failed(sentence, retryAfter string) (time.Duration, bool) {
	f.cache.counts.failures.Add(1)
	f.holds = false
	f.cache.failed(sentence)
	return f.nodes.Failed(retryAfter), true
}

// hasToken asks the provider for a token where one is needed, and returns whether there is one.
func (f *follower) hasToken(ctx context.Context) bool {
	provider := f.cache.options.TokenProvider
	if provider == nil || (f.hasSecret && f.cache.now() < f.renewAt) {
		return true
	}
	// What decides meanwhile must not wait for long.
	limited, cancel := context.WithTimeout(ctx, max(answerMin, f.hold))
	defer cancel()
	secret, err := provider(limited)
	if err != nil || nodes.IsBlank(secret) {
		f.cache.failed(nodes.ErrProvider.Detail)
	} else if !f.hasSecret || secret != f.secret {
		f.forget(secret, true)
	}
	return f.hasSecret
}

func (f *follower) forget(secret string, hasSecret bool) {
	f.secret, f.hasSecret, f.etag, f.index, f.holds, f.renewAt = secret, hasSecret, "", 0, false, never
}

// accept takes a feed, or that it has not changed.
func (f *follower) accept(answer *http.Response, sentAt time.Duration, isConsistent bool) (
	time.Duration, error,
) {
	var body struct {
		Anonymous   bool
		Index       *uint64
		ExpiresInMs *int64
	}
	var made *rights.Rights
	if answer.StatusCode == 200 {
		text, err := io.ReadAll(io.LimitReader(answer.Body, feedBytes))
		if err == nil {
			err = json.Unmarshal(text, &body)
		}
		if err == nil && body.Anonymous && f.secret != "" && f.secret != anonymous {
			err = errTokenLost
		}
		if err != nil {
			return 0, err
		}
		made = rights.Parse(text)
	}
	index, err := strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64)
	if err != nil {
		if body.Index == nil {
			return 0, err
		}
		index = *body.Index
	}
	f.doubts = index < f.index && !isConsistent
	if f.doubts {
		f.holds = false
		return 0, nil
	}
	news := news{made: made, index: index, sentAt: sentAt, expiresAt: never}
	left, err := strconv.ParseInt(answer.Header.Get("X-Consul-Expires-In-Ms"), 10, 64)
	if err != nil && body.ExpiresInMs != nil {
		left, err = *body.ExpiresInMs, nil
	}
	if err == nil && left < never.Milliseconds()/2 {
		life := time.Duration(left) * time.Millisecond
		news.expiresAt = sentAt + life
		if f.renewAt == never {
			f.renewAt = news.expiresAt - min(2*f.cache.options.FreshFor, life/2)
		}
	}
	wasHeld := f.holds
	f.index = index
	counter := &f.cache.counts.unchanged
	if made != nil {
		counter = &f.cache.counts.changed
		f.etag = answer.Header.Get("ETag")
	}
	counter.Add(1)
	f.holds = f.etag != ""
	f.nodes.Succeeded()
	f.cache.accept(news)
	switch {
	case !f.holds:
		return f.hold, nil
	case wasHeld && made == nil && f.cache.now()-sentAt < f.hold:
		// A node that stops, or a proxy, may answer before the hold is over: not to be asked in a loop.
		return earlyDelay, nil
	}
	return 0, nil
}

func (f *follower) refused(address string, answer *http.Response) (time.Duration, bool) {
	status, problem := answer.StatusCode, nodes.ErrorOf(answer)
	isTooLarge := status == 413
	if status != 401 && !isTooLarge && problem.Code != "acl_not_found" {
		retryAfter := ""
		if status == 429 || status == 503 {
			retryAfter = problem.RetryAfter
		}
		sentence := fmt.Sprintf("%s answered %d %s", nodes.Host(address), status, problem.Code)
		return f.failed(sentence, retryAfter)
	}
	f.cache.counts.refusals.Add(1)
	hasProvider := f.cache.options.TokenProvider != nil
	f.forget(f.secret, isTooLarge || !hasProvider)
	if isTooLarge {
		f.cache.end(TooLarge)
		return f.cache.options.FreshFor, true
	}
	f.cache.end(Ended)
	return f.nodes.Failed(""), hasProvider
}
