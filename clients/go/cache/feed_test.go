//go:build go1.25

package cache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave.example/clients/go/cache"
	"conclave.example/clients/go/rights"
)

func TestHoldsOneQuery(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c := s.open(func(o *cache.Options) { o.FreshFor, o.Consistent = 20*time.Second, true })
		first := s.next()
		expect(t, "query", first.URL.String(),
			"http://one:8500/v1/acl/token/self/rights?consistent=true")
		expect(t, "secret", first.secret(), "secret")
		first.feed(10, []string{"k"})
		held := s.next()
		expect(t, "query", held.URL.RawQuery, "consistent=true&index=10&wait=8000ms")
		expect(t, "etag", held.Header.Get("If-None-Match"), `"k"`)
		time.Sleep(8500 * time.Millisecond)
		expect(t, "queries", len(s.asks), 0)
		held.unchanged(12)
		expect(t, "queries", len(s.asks), 1)
		expect(t, "state", c.State(), cache.Fresh)
	})
}

func TestGoesFromNodeToNode(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(func(o *cache.Options) {
			o.Addresses = []string{"http://one:8500", "http://two:8500", "http://three:8500"}
		}, "k")
		time.Sleep(4250 * time.Millisecond)
		held.unchanged(10)
		silent := s.next()
		asked := time.Now()
		other := s.next()
		expect(t, "time until the next node", time.Since(asked), 5250*time.Millisecond)
		expect(t, "is fresh", c.State(), cache.Fresh)
		expect(t, "is another", other.URL.Host != silent.URL.Host, true)
		expect(t, "is not held", other.URL.RawQuery, "")
		other.cut()
		least := 100 * time.Millisecond
		for range 10 {
			before := time.Now()
			one := s.next()
			if waited := time.Since(before); waited < least || waited > least*3/2+1 {
				t.Fatalf("waited %v, not %v", waited, least)
			}
			least = min(2*least, 5*time.Second)
			expect(t, "queries", len(s.asks), 0)
			one.cut()
		}
		one := s.next()
		one.with(503, heads("Retry-After", 7), object{"code": "no_leader"})
		before := time.Now()
		s.next().unchanged(10)
		if waited := time.Since(before); waited < 7*time.Second || waited > 11*time.Second {
			t.Fatalf("waited %v", waited)
		}
		expect(t, "is fresh", c.State(), cache.Fresh)
	})
}

func TestGoesToTheNextNodeWithinAMinute(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		held.with(503, heads("Retry-After", 86400), "")
		before := time.Now()
		s.next().unchanged(10)
		if waited := time.Since(before); waited < 30*time.Second || waited > 45*time.Second {
			t.Fatalf("waited %v", waited)
		}
		expect(t, "is fresh", c.State(), cache.Fresh)
	})
}

func TestDoesNotAskInALoop(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		_, held := s.ready(nil, "k")
		none := heads("Retry-After", 0)
		held.with(503, none, object{"code": "no_leader"})
		for least := 100 * time.Millisecond; least <= 1600*time.Millisecond; least *= 2 {
			s.next().with(429, none, object{"code": "too_many"})
			time.Sleep(least - 1)
			synctest.Wait()
			expect(t, "queries", len(s.asks), 0)
			time.Sleep(least/2 + 1)
			synctest.Wait()
		}
		expect(t, "queries", len(s.asks), 1)
	})
}

func TestConfirmsALowerIndex(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		time.Sleep(time.Second)
		held.feed(9, []string{"k", "old"})
		expect(t, "an older feed", c.Can("key", "read", "old"), false)
		expect(t, "age", c.Metrics().Age, time.Second)
		again := s.next()
		expect(t, "query", again.URL.RawQuery, "consistent=true")
		again.unchanged(10)
		held = s.next()
		expect(t, "query", held.URL.RawQuery, "index=10&wait=4000ms")
		held.unchanged(4)
		s.next().feed(4, []string{"restored"})
		expect(t, "restored", c.Can("key", "read", "restored"), true)
		expect(t, "query", s.next().URL.RawQuery, "index=4&wait=4000ms")
	})
}

func TestTakesForAnAnswerOnlyWhatIsOne(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		c, held := s.ready(nil, "k")
		time.Sleep(500 * time.Millisecond)
		held.with(200, nil, "<html>log in to this network</html>")
		s.next().with(200, nil, object{"decision": true})
		s.next().refuse(500, "internal")
		held = s.next()
		expectReason(t, c, true, rights.Allowed, cache.Fresh)
		expect(t, "changed", c.Metrics().Changed, uint64(1))
		held.unchanged(10)
		held = s.next()
		before := time.Now()
		held.unchanged(10)
		s.next()
		expect(t, "an early answer", time.Since(before), 100*time.Millisecond)
	})
}

func TestTakesNoFeedOfTheAnonymousToken(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		open := feedOf(11, []string{"k", "open"})
		open["Anonymous"] = true
		c, held := s.ready(nil, "k")
		var failures []string
		c.On(func(e cache.Event) { failures = append(failures, e.Message) })
		held.with(200, heads("X-Consul-Index", 11, "ETag", `"open"`), open)
		expect(t, "query", s.next().URL.RawQuery, "")
		expect(t, "failures", failures, []string{
			"one:8500 did not get the token: a proxy may remove the header Authorization",
		})
		expect(t, "open", c.Can("key", "read", "open"), false)
		expect(t, "k", c.Can("key", "read", "k"), true)
		c.Close()
		for _, token := range []string{"", "anonymous"} {
			own := s.open(func(o *cache.Options) { o.Token = token })
			s.next().with(200, nil, open)
			expect(t, "open", own.Can("key", "read", "open"), true)
			own.Close()
		}
	})
}

func TestAsksTheProviderAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		secrets := []string{"", "s1", "s2", "s3"}
		c := s.open(func(o *cache.Options) {
			o.TokenProvider = func(ctx context.Context) (string, error) {
				if secrets = secrets[min(1, len(secrets)-1):]; secrets[0] == "s2" {
					<-ctx.Done()
					return "", errors.New("s2 is no use")
				}
				return secrets[0], nil
			}
		})
		var failures []string
		c.On(func(e cache.Event) { failures = append(failures, e.Message) })
		first := s.next()
		expect(t, "secret", first.secret(), "s1")
		first.feedFor(10, []string{"k"}, 60_000)
		for start := time.Now(); time.Since(start) < 40*time.Second; {
			held := s.next()
			expect(t, "secret", held.secret(), "s1")
			time.Sleep(4 * time.Second)
			held.unchanged(10)
		}
		// The provider was silent, and then named the next token; the old feed decides meanwhile.
		expect(t, "old feed", c.Can("key", "read", "k"), true)
		s.next().unchanged(10)
		next := s.next()
		expect(t, "secret", next.secret()+next.Header.Get("If-None-Match"), "s3")
		next.feed(3, []string{"l"})
		expect(t, "new feed", c.Can("key", "read", "l"), true)
		if all := strings.Join(failures, ""); strings.Contains(all, "s2") || all == "" {
			t.Errorf("told %q", all)
		}
		s.next().refuse(403, "acl_not_found")
		expectReason(t, c, false, cache.Ended, cache.HasEnded)
		expect(t, "asks again", s.next().secret(), "s3")
	})
}

func TestTakesABlankTokenForAFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		answers := []string{"", "s1", "\n", " \t", "", ""}
		c := s.open(func(o *cache.Options) {
			o.TokenProvider = func(context.Context) (string, error) {
				answer := answers[0]
				answers = answers[min(1, len(answers)-1):]
				return answer, nil
			}
		})
		var failures []string
		c.On(func(e cache.Event) {
			if e.Kind == cache.ErrorEvent {
				failures = append(failures, e.Message)
			}
		})
		first := s.next()
		expect(t, "secret", first.secret(), "s1")
		first.feedFor(10, []string{"k"}, 60_000)
		for left := 60_000; left > 4_000; left -= 4_000 {
			held := s.next()
			expect(t, "secret", held.secret(), "s1")
			expectReason(t, c, true, rights.Allowed, cache.Fresh)
			time.Sleep(4 * time.Second)
			held.with(304, heads("X-Consul-Index", 10, "X-Consul-Expires-In-Ms", left-4_000), nil)
		}
		// The last answer counts from when it was asked for.
		expectReason(t, c, false, cache.Ended, cache.HasEnded)
		expect(t, "answers", answers, []string{""})
		for _, failure := range failures {
			expect(t, "failure", failure, "the provider of the token failed")
		}
		// While the provider has no next token, the cache stays ended.
		s.next().refuse(403, "acl_not_found")
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "queries", len(s.asks), 0)
		expectReason(t, c, false, cache.Ended, cache.HasEnded)
	})
}

func TestPoolRefusesABlankSecret(t *testing.T) {
	s := &server{t: t, asks: make(chan ask, 100)}
	pool, err := cache.OpenPool(cache.PoolOptions{Options: s.options()})
	expect(t, "error", err, nil)
	defer pool.Close()
	for _, blank := range []string{"", " ", "\r\n"} {
		if _, err := pool.For(blank); err == nil || err.Error() != "the secret is blank" {
			t.Errorf("%q: got %v", blank, err)
		}
	}
	expect(t, "size", pool.Len(), 0)
}
