//go:build go1.25

package cache_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"conclave.example/clients/go/cache"
)

const (
	// samples is how many decisions are timed, one by one.
	samples = 1_000_000
	// many questions are more than a cache remembers, and few are not.
	many, few = 4_099, 512
)

// orders returns a feed of so many rules, of which half name an order and half a range of them, and
// ids: half of them are named, a third are in ranges, and the others in none.
func orders(rules int) (object, []string) {
	exact, prefix := []string{}, []string{}
	for i := range rules {
		if i%2 == 0 {
			exact = append(exact, fmt.Sprintf("orders/approve/%d", i))
		} else {
			prefix = append(prefix, fmt.Sprintf("orders/approve/r%d-", i))
		}
	}
	feed := feedOf(10, exact)
	named := feed["Layers"].([]any)[0].(object)["Sets"].([]any)[0].(object)["Named"].(object)
	named["key"].(object)["Prefix"] = object{"read": prefix}
	ids := make([]string, many)
	for i := range ids {
		switch rule := i * 7919 % rules; {
		case rule%2 == 0:
			ids[i] = fmt.Sprint(rule)
		case i%3 == 0:
			ids[i] = fmt.Sprintf("none-%d", i)
		default:
			ids[i] = fmt.Sprintf("r%d-%d", rule, i)
		}
	}
	return feed, ids
}

// timesOf returns how long calls take, each by itself, in their order.
func timesOf(call func(i int)) []time.Duration {
	took := make([]time.Duration, samples)
	for i := range took {
		start := time.Now()
		call(i)
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took
}

// report times decisions, less what reading the clock takes.
func report(b *testing.B, ids []string, decide func(id string) bool) {
	clock := timesOf(func(int) {})[samples/2]
	at := 0
	allocations := testing.AllocsPerRun(samples/100, func() {
		at++
		decide(ids[at%len(ids)])
	})
	for b.Loop() {
		took := timesOf(func(i int) { decide(ids[i%len(ids)]) })
		b.ReportMetric(0, "ns/op")
		for name, part := range map[string]int{"p50": 500, "p99": 990, "p99.9": 999} {
			b.ReportMetric(float64(took[samples/1_000*part]-clock), name)
		}
		b.ReportMetric(allocations, "allocations")
	}
}

func BenchmarkDecisions(b *testing.B) {
	for _, rules := range []int{10, 1_000, 10_000} {
		feed, ids := orders(rules)
		s := &server{asks: make(chan ask, 100)}
		options := s.options()
		options.FreshFor = 10 * time.Minute
		c, err := cache.Open(options)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		first := <-s.asks
		first.answers <- answerOf(200, heads("X-Consul-Index", 10, "ETag", `"k"`), feed)
		if err := c.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		can := func(id string) bool { return c.Can("orders", "approve", id) }
		own := c.Rights()
		b.Run(fmt.Sprintf("rights/%d", rules), func(b *testing.B) {
			report(b, ids, func(id string) bool { return own.Can("orders", "approve", id, "default") })
		})
		b.Run(fmt.Sprintf("new/%d", rules), func(b *testing.B) { report(b, ids, can) })
		b.Run(fmt.Sprintf("last/%d", rules), func(b *testing.B) { report(b, ids[:few], can) })
	}
}
