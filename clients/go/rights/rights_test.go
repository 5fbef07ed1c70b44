package rights_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"conclave.example/clients/go/rights"
)

type vector struct {
	Name      string
	Rights    json.RawMessage
	Questions [][5]any
}

// vectors returns the cases that all libraries are tested by.
var vectors = sync.OnceValue(func() []vector {
	text, err := os.ReadFile("../../vectors.json")
	if err != nil {
		panic(err)
	}
	var file struct{ Cases []vector }
	if err := json.Unmarshal(text, &file); err != nil {
		panic(err)
	}
	return file.Cases
})

func TestDecidesAllVectors(t *testing.T) {
	asked := 0
	for _, one := range vectors() {
		made := rights.Parse(one.Rights)
		for _, q := range one.Questions {
			asked++
			allow := made.Can(q[0].(string), q[1].(string), q[2].(string), q[3].(string))
			if allow != q[4].(bool) {
				t.Errorf("%s: %v: got %v", one.Name, q, allow)
			}
		}
	}
	if asked < 100_000 {
		t.Errorf("%d questions are too few", asked)
	}
}

// feedWith returns a feed with one set of rules about keys, and members in place of its own.
func feedWith(t testing.TB, table, more map[string]any) []byte {
	t.Helper()
	var feed map[string]any
	if err := json.Unmarshal(vectors()[0].Rights, &feed); err != nil {
		t.Fatal(err)
	}
	set := map[string]any{
		"Match": "exact", "Name": "default", "Scalars": map[string]any{},
		"Named": map[string]any{"key": table, "service": table},
	}
	feed["Layers"] = []any{map[string]any{"Layer": "own", "Sets": []any{set}}}
	for name, value := range more {
		feed[name] = value
	}
	text, _ := json.Marshal(feed)
	return text
}

func keys(exact, prefix map[string]any) map[string]any {
	return map[string]any{"Exact": exact, "Prefix": prefix, "Other": []string{}}
}

type table = map[string]any

func TestDeniesByWhatItCannotRead(t *testing.T) {
	fine := keys(table{"read": []any{"k"}}, table{})
	if got := rights.Parse(feedWith(t, fine, nil)).Decide("key", "read", "k", "default"); !got.Allow {
		t.Fatalf("got %+v", got)
	}
	scalar := func(more table) table {
		more["Actions"], more["Default"] = []any{"read"}, "allow"
		return more
	}
	circle := table{
		"key": scalar(table{"Form": "scalar", "Else": "a"}),
		"a":   scalar(table{"Form": "scalar", "Else": "key"}),
	}
	odd := [][]byte{nil, []byte("null"), []byte("[]"), []byte("{}"), []byte("{\"Version\":1"),
		feedWith(t, keys(table{"read": []any{7}}, table{}), nil),
		feedWith(t, keys(table{"read": []any{table{"Name": "k"}}}, table{}), nil),
		feedWith(t, keys(table{"own": []any{"k"}}, table{}), nil),
		feedWith(t, fine, table{"Resources": table{"key": scalar(table{"Form": "other"})}}),
		feedWith(t, fine, table{"Resources": circle}),
		feedWith(t, fine, table{"Application": table{"Resource": "door", "Action": "read"}}),
	}
	for _, name := range []string{"Layers", "Grants", "Application", "Resources", "AnyByDefault",
		"Version", "Index", "Namespace"} {
		odd = append(odd, feedWith(t, fine, table{name: nil}))
	}
	for _, feed := range odd {
		if got := rights.Parse(feed).Decide("key", "read", "k", "default"); got.Reason != rights.Invalid {
			t.Errorf("%s: got %+v", feed, got)
		}
	}
	later := rights.Parse(feedWith(t, fine, table{"Version": 2}))
	if got := later.Decide("key", "read", "k", "default"); got.Allow || got.Reason != rights.Version {
		t.Errorf("a later version: got %+v", got)
	}
	all := rights.Parse(feedWith(t, keys(table{}, table{"write": []any{""}}), nil))
	if got := all.Decide("key", "read", "\xff", "default"); got.Reason != rights.Invalid {
		t.Errorf("no Unicode: got %+v", got)
	}
}

func TestReadsNamespacesAsTheServerDoes(t *testing.T) {
	set := func(match, name, level string) table {
		named := table{"key": keys(table{}, table{level: []any{""}})}
		return table{"Match": match, "Name": name, "Scalars": table{}, "Named": named}
	}
	sets := []any{set("exact", "default", "deny"), set("exact", "team-a", "deny"),
		set("prefix", "", "write")}
	layers := []any{table{"Layer": "own", "Sets": sets}}
	made := rights.Parse(feedWith(t, keys(table{}, table{}), table{"Layers": layers}))
	longest := strings.Repeat("n", 63)
	for reason, names := range map[rights.Reason][]string{
		rights.Allowed: {"b", "B", "0", "a--b", longest},
		rights.Denied:  {"team-a", "Team-A", "TEAM-A", "default", "Default"},
		rights.Invalid: {"", "-a", "a-", "a_b", "a.b", "a/b", " a", "a\n", "ä", longest + "n",
			"\u212a", "*", "\xff"},
	} {
		for _, name := range names {
			if got := made.Decide("key", "write", "k", name); got.Reason != reason {
				t.Errorf("%q: got %+v, want %s", name, got, reason)
			}
		}
	}
}

func TestNamesTheRuleAndItsSource(t *testing.T) {
	name := table{"Name": "orders/approve/17", "From": []any{[]any{0, 4}}}
	chain := []any{table{"Type": "policy", "ID": "p", "Name": "shop"}}
	made := rights.Parse(feedWith(t,
		keys(table{"deny": []any{name}}, table{"read": []any{"orders/"}}),
		table{"Origins": []any{chain}}))
	got := made.Decide("orders", "approve", "17", "default")
	rule := got.Rule
	if got.Allow || rule == nil || rule.Name != "orders/approve/17" || rule.Level != "deny" {
		t.Fatalf("got %+v", got)
	}
	want := []rights.Source{{Chain: []rights.Step{{"policy", "p", "shop"}}, Line: 4}}
	if from := made.SourcesOf(got.Rule); !reflect.DeepEqual(from, want) {
		t.Errorf("got %+v", from)
	}
}

func big(t testing.TB, n int) *rights.Rights {
	t.Helper()
	names := func(k int, form string) (made []string) {
		for i := 0; i < k; i++ {
			made = append(made, fmt.Sprintf(form, i*7919%n))
		}
		return made
	}
	return rights.Parse(feedWith(t, keys(
		table{"read": names(n/2, "orders/approve/some-long-name-%d")},
		table{"write": names(n/4, "orders/ship/%d-"), "deny": names(n/4, "teams/%d/")},
	), nil))
}

func TestDecidesWithoutAllocating(t *testing.T) {
	made := big(t, 1000)
	for _, q := range [][3]string{
		{"key", "read", "orders/approve/some-long-name-7"},
		{"key", "read", "orders/ship/12-and-more-than-the-thirty-two-bytes-of-small-texts"},
		{"orders", "approve", "some-long-name-7"},
		{"orders", "approve", "missing-with-a-name-that-is-longer-than-thirty-two-bytes"},
		{"app:or/ders", "ship", "12-x"},
		{"key", "write-prefix", "orders/ship/12-"},
		{"intention", "read", "*"},
		{"namespace", "read", "team"},
	} {
		n := testing.AllocsPerRun(100, func() { made.Decide(q[0], q[1], q[2], "default") })
		if n != 0 {
			t.Errorf("%v: %v allocations", q, n)
		}
	}
}
