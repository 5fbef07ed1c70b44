//go:build go1.25

package cache_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"conclave.example/clients/go/cache"
	"conclave.example/clients/go/rights"
)

// samples is how many decisions are timed, one by one.
const samples = 1_000_000

// orders returns a feed of so many rules, of which half name an order and half a range of them, and
// questions: about orders that are named, that are in a range, and that no rule is about.
func orders(rules int) (object, []string) {
	exact, prefix, ids := []string{}, []string{}, []string{}
	for i := range rules {
		if i%2 == 0 {
			exact = append(exact, fmt.Sprintf("orders/approve/%d", i))
			ids = append(ids, fmt.Sprint(i), fmt.Sprint(i+1))
		} else {
			prefix = append(prefix, fmt.Sprintf("orders/approve/r%d-", i))
			ids = append(ids, fmt.Sprintf("r%d-some-order", i))
		}
	}
	feed := feedOf(10, exact)
	named := feed["Layers"].([]any)[0].(object)["Sets"].([]any)[0].(object)["Named"].(object)
	named["key"].(object)["Prefix"] = object{"read": prefix}
	return feed, ids
}

// inTurn returns the questions so that those next to each other are not about the same rules.
func inTurn(ids []string, i int) string { return ids[i*7919%len(ids)] }

// report times decisions one by one; what reading the clock takes is in all of them.
func report(b *testing.B, ids []string, decide func(id string) bool) {
	took := make([]time.Duration, samples)
	at := 0
	allocations := testing.AllocsPerRun(1_000, func() { at++; decide(inTurn(ids, at)) })
	for b.Loop() {
		for i := range took {
			id := inTurn(ids, i)
			start := time.Now()
			decide(id)
			took[i] = time.Since(start)
		}
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[samples/2]), "p50-ns")
	b.ReportMetric(float64(took[samples*99/100]), "p99-ns")
	b.ReportMetric(allocations, "allocations")
}

func BenchmarkDecisions(b *testing.B) {
	for _, rules := range []int{10, 1_000, 10_000} {
		feed, ids := orders(rules)
		b.Run(fmt.Sprintf("rights/%d", rules), func(b *testing.B) {
			text, _ := json.Marshal(feed)
			parsed := rights.Parse(text)
			report(b, ids, func(id string) bool { return parsed.Can("orders", "approve", id, "default") })
		})
		b.Run(fmt.Sprintf("cache/%d", rules), func(b *testing.B) {
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
			report(b, ids[:min(len(ids), 1_000)], func(id string) bool {
				return c.Can("orders", "approve", id)
			})
		})
	}
}
