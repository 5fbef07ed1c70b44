//go:debug asynctimerchan=0
//go:build go1.25

package cache_test

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave.example/clients/go/cache"
	"conclave.example/clients/go/rights"
)

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// expectReason checks a decision on key k.
func expectReason(
	t *testing.T, c *cache.Cache, allow bool, reason rights.Reason, state cache.State,
) {
	t.Helper()
	got := c.Explain("key", "read", "k")
	if got.Allow != allow || got.Reason != reason || got.State != state {
		t.Fatalf("got %v %s %s, want %v %s %s", got.Allow, got.Reason, got.State, allow, reason, state)
	}
}

func TestDeniesBeforeTheFirstAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c := s.open(func(o *cache.Options) { o.Extend = true })
		expectReason(t, c, false, cache.NotReady, cache.CutOff)
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		expect(t, "ready", c.Ready(limited), context.DeadlineExceeded)
		s.next().feed(10, []string{"k"})
		expect(t, "ready", c.Ready(t.Context()), nil)
		expectReason(t, c, true, rights.Allowed, cache.Fresh)
		expect(t, "another key", c.Can("key", "read", "l"), false)
		expect(t, "another namespace", c.Can("key", "read", "k", "team"), false)
		expect(t, "index", c.Rights().Index, uint64(10))
	})
}

func TestIsFreshAndStaleFromWhenTheQueryWasSent(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		time.Sleep(4 * time.Second)
		held.unchanged(10)
		// What the node said is of when it was asked: 4 seconds ago.
		expect(t, "age", c.Metrics().Age, 4*time.Second)
		time.Sleep(6 * time.Second)
		expectReason(t, c, true, rights.Allowed, cache.Fresh)
		time.Sleep(1)
		expectReason(t, c, true, rights.Allowed, cache.Stale)
		time.Sleep(50*time.Second - 1)
		expectReason(t, c, true, rights.Allowed, cache.Stale)
		time.Sleep(1)
		expectReason(t, c, false, cache.CutOffFromAll, cache.CutOff)
	})
}

func TestGoesOnWhenCutOffIfToldTo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, _ := s.ready(func(o *cache.Options) { o.Extend = true }, "k")
		time.Sleep(time.Minute + time.Second)
		expectReason(t, c, true, rights.Allowed, cache.CutOff)
	})
}

func TestTellsEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		var told []string
		c, held := s.ready(nil, "k")
		c.On(func(e cache.Event) {
			told = append(told, fmt.Sprint(e.Kind, " ", e.State, e.Index, e.Message))
			if e.State == cache.CutOff {
				c.Close()
			}
		})
		held.feed(11, []string{"l"})
		s.next().cut()
		time.Sleep(time.Minute + 1)
		synctest.Wait()
		expect(t, "first", told[:2], []string{
			"rights 11", "error 0one:8500 did not answer (connection reset)",
		})
		expect(t, "last", told[len(told)-1], "state ended0")
		if all := strings.Join(told, "\n"); !strings.Contains(all, "\nstate stale0\n") {
			t.Errorf("got %s", all)
		}
	})
}

func TestEndsWithItsToken(t *testing.T) {
	for status, code := range map[int]string{401: "unauthenticated", 403: "acl_not_found"} {
		inBubble(t, func(t *testing.T, s *server) {
			c, held := s.ready(func(o *cache.Options) { o.Extend = true }, "k")
			held.refuse(status, code)
			expectReason(t, c, false, cache.Ended, cache.HasEnded)
			time.Sleep(10 * time.Minute)
			expect(t, "queries", len(s.asks), 0)
			expect(t, "ready", c.Ready(t.Context()), nil)
		})
	}
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		held.with(403, nil, "ACL not found (the token sent is not known)\n")
		expectReason(t, c, false, cache.Ended, cache.HasEnded)
	})
}

func TestDeniesWhileTheFeedIsTooLarge(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		held.refuse(413, "too_large")
		expectReason(t, c, false, cache.TooLarge, cache.HasEnded)
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		expect(t, "queries", len(s.asks), 0)
		s.next().feed(12, []string{"k"})
		expectReason(t, c, true, rights.Allowed, cache.Fresh)
	})
}

func TestEndsWhenTheTokenExpires(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c := s.open(func(o *cache.Options) { o.Extend = true })
		first := s.next()
		time.Sleep(500 * time.Millisecond)
		first.feedFor(10, []string{"k"}, 5000)
		held := s.next()
		time.Sleep(4*time.Second + 500*time.Millisecond - 1)
		synctest.Wait()
		// Counted from when the query was sent.
		expectReason(t, c, true, rights.Allowed, cache.Fresh)
		time.Sleep(1)
		expectReason(t, c, false, cache.Ended, cache.HasEnded)
		_ = held
	})
	inBubble(t, func(t *testing.T, s *server) {
		c := s.open(nil)
		s.next().feedFor(10, []string{"k"}, 60_000)
		held := s.next()
		time.Sleep(3 * time.Second)
		held.with(304, heads("X-Consul-Index", 10, "X-Consul-Expires-In-Ms", 2999), nil)
		expectReason(t, c, false, cache.Ended, cache.HasEnded)
	})
}

func TestDeniesByFeedsThatItCannotRead(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		later := feedOf(11, []string{"k"})
		later["Version"] = 2
		held.with(200, heads("X-Consul-Index", 11, "ETag", `"v"`), later)
		expectReason(t, c, false, rights.Version, cache.Fresh)
		s.next().with(200, heads("X-Consul-Index", 12, "ETag", `"o"`), object{"Version": 1})
		expectReason(t, c, false, rights.Invalid, cache.Fresh)
	})
}

func TestRemembersAnswersWithoutAllocating(t *testing.T) {
	// AllocsPerRun counts those of all goroutines, so there is no bubble.
	s := &server{t: t, asks: make(chan ask, 100)}
	options := s.options()
	c, err := cache.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	first := s.next()
	body := feedOf(10, []string{"k"})
	go func() {
		first.answers <- answerOf(200, heads("X-Consul-Index", 10, "ETag", `"k"`), body)
	}()
	if err := c.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 1024)
	for i := range ids {
		ids[i] = fmt.Sprintf("a-name-that-is-longer-than-thirty-two-bytes-%d", i)
		c.Can("key", "read", ids[i], "default")
	}
	at := 0
	allocations := testing.AllocsPerRun(10_000, func() {
		at = (at + 1) % len(ids)
		if c.Can("key", "read", ids[at], "default") || !c.Can("key", "read", "k") {
			panic("another answer")
		}
	})
	expect(t, "allocations", allocations, 0.0)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 5_000 {
				if c.Can("key", "read", fmt.Sprint(i)) || !c.Can("key", "read", "k") {
					panic("another answer")
				}
			}
		})
	}
	wait.Wait()
}

func TestSaysWhereARuleIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c := s.open(func(o *cache.Options) { o.Sources = true })
		first := s.next()
		expect(t, "query", first.URL.RawQuery, "sources=true")
		body := feedOf(10, []any{object{"Name": "k", "From": []any{[]int{0, 3}}}})
		body["Origins"] = []any{[]any{object{"Type": "policy", "ID": "p", "Name": "shop"}}}
		first.with(200, heads("X-Consul-Index", 10, "ETag", `"s"`), body)
		want := []rights.Source{{Chain: []rights.Step{{Type: "policy", ID: "p", Name: "shop"}}, Line: 3}}
		expect(t, "sources", c.Explain("key", "read", "k").Sources, want)
	})
}

func TestAsksANodeIfToldTo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c := s.open(func(o *cache.Options) { o.AskServer = true })
		s.next()
		for _, want := range []bool{true, false} {
			answered := make(chan bool)
			go func() { answered <- c.CanOrAsk(t.Context(), "orders", "approve", "17", "team") }()
			one := s.next()
			expect(t, "path", one.URL.Path+" "+one.secret(), "/access/v1/evaluation secret")
			body, _ := io.ReadAll(one.Body)
			expect(t, "body", string(body), `{"action":{"name":"approve"},"resource":{"id":"17",`+
				`"properties":{"namespace":"team"},"type":"orders"},"subject":{"id":"self","type":"token"}}`)
			one.with(map[bool]int{true: 200, false: 500}[want], nil, object{"decision": true})
			expect(t, "allowed", <-answered, want)
		}
	})
	inBubble(t, func(t *testing.T, s *server) {
		c := s.open(nil)
		s.next()
		expect(t, "not told to", c.CanOrAsk(t.Context(), "orders", "approve", "17"), false)
	})
}

func TestDeniesOnceClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		c.Close()
		synctest.Wait()
		expect(t, "held", held.Context().Err() != nil, true)
		expectReason(t, c, false, cache.Closed, cache.HasEnded)
	})
}

func TestRefusesOptionsThatMakeNoSense(t *testing.T) {
	for _, change := range []func(*cache.Options){
		func(o *cache.Options) { o.Addresses = nil },
		func(o *cache.Options) { o.Addresses = []string{"ftp://one"} },
		func(o *cache.Options) { o.Addresses = []string{"http://user:password@one"} },
		func(o *cache.Options) { o.FreshFor = time.Millisecond },
		func(o *cache.Options) { o.FreshFor = time.Hour },
		func(o *cache.Options) { o.MaxStale = time.Second },
		func(o *cache.Options) { o.MaxStale = 25 * time.Hour },
	} {
		options := cache.Options{Addresses: []string{"http://one:8500"}}
		change(&options)
		if _, err := cache.Open(options); err == nil {
			t.Errorf("%+v is taken", options)
		}
	}
}

func TestPoolFindsACacheWithoutAllocating(t *testing.T) {
	s := &server{t: t, asks: make(chan ask, 100)}
	pool, err := cache.OpenPool(cache.PoolOptions{Options: s.options()})
	expect(t, "error", err, nil)
	defer pool.Close()
	first, _ := pool.For("a")
	s.next()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 1_000 {
				if found, _ := pool.For("a"); found != first {
					panic("another cache")
				}
				_, _ = pool.For(fmt.Sprint(i % 8))
			}
		})
	}
	wait.Wait()
	expect(t, "size", pool.Len(), 9)
	expect(t, "allocations", testing.AllocsPerRun(1_000, func() { _, _ = pool.For("a") }), 0.0)
}

func TestPoolKeepsWhatIsUsed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		pool, err := cache.OpenPool(cache.PoolOptions{Options: s.options(), MaxTokens: 2})
		if err != nil {
			t.Fatal(err)
		}
		open := func(secret string) *cache.Cache {
			t.Helper()
			made, err := pool.For(secret)
			expect(t, "error", err, nil)
			return made
		}
		a, b := open("a"), open("b")
		time.Sleep(1)
		expect(t, "the same", open("a"), a)
		open("c")
		synctest.Wait()
		expect(t, "size", pool.Len(), 2)
		expect(t, "least recently used", b.State(), cache.HasEnded)
		expect(t, "recently used", open("a").State(), cache.CutOff)
		one := s.next()
		for one.secret() != "a" {
			one = s.next()
		}
		one.refuse(403, "acl_not_found")
		time.Sleep(10 * time.Second)
		expect(t, "has ended", open("a"), a)
		time.Sleep(1)
		expect(t, "is asked again", open("a") != a, true)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		expect(t, "idle", pool.Len(), 0)
		a = open("a")
		pool.Close()
		expectReason(t, a, false, cache.Closed, cache.HasEnded)
		_, err = pool.For("a")
		expect(t, "closed", err.Error(), "the pool is closed")
	})
}

func TestPoolMayBeUsedByListeners(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		pool, err := cache.OpenPool(cache.PoolOptions{Options: s.options(), MaxTokens: 2})
		expect(t, "error", err, nil)
		sizes := []int{}
		open := func(secret string) {
			made, err := pool.For(secret)
			expect(t, "error", err, nil)
			made.On(func(event cache.Event) {
				if event.State == cache.HasEnded {
					sizes = append(sizes, pool.Len())
				}
			})
		}
		open("a")
		time.Sleep(1)
		open("b")
		time.Sleep(1)
		open("c") // drops a
		time.Sleep(11 * time.Minute)
		synctest.Wait() // drops what is idle
		open("d")
		pool.Close()
		expect(t, "sizes", sizes, []int{2, 0, 0, 0})
	})
}
