package rights

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Rule is a rule: where it stands and what it says.
type Rule struct {
	Layer string
	// Namespace is the namespace of the rule or, if NamespaceMatch is "prefix", what its name begins
	// with.
	NamespaceMatch, Namespace string
	Resource                  string
	// Match is "exact" or "prefix" for rules with names, else "scalar".
	Match, Name, Level string
	// Grants are the actions that the level grants.
	Grants []string

	from [][2]int
}

// ruleSet has the rules about one namespace, or about those whose name begins with a prefix.
type ruleSet struct {
	name       string
	management *Rule
	scalars    map[string]*Rule
	named      map[string]*names
	// any is a rule that denies nothing.
	any *Rule
	// next is the set that is asked after this one.
	next *ruleSet
}

// prefixTable has values by names, in the order of the names.
type prefixTable[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
	// parent is the place of the longest other name that this one begins with, or -1.
	parent int
}

func (t *prefixTable[T]) add(name string, value T) { *t = append(*t, entry[T]{name, value, -1}) }

func (t prefixTable[T]) sort() {
	slices.SortStableFunc(t, func(a, b entry[T]) int { return strings.Compare(a.name, b.name) })
	for i := range t {
		at := i - 1
		for at >= 0 && !strings.HasPrefix(t[i].name, t[at].name) {
			at = t[at].parent
		}
		t[i].parent = at
	}
}

// longest returns the value of the longest name that text begins with.
func (t prefixTable[T]) longest(text []byte) (value T, found bool) {
	low, high := 0, len(t)
	for low < high {
		if middle := (low + high) / 2; t[middle].name <= string(text) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	// Whatever stands between that name and the text begins with it.
	for at := low - 1; at >= 0; at = t[at].parent {
		if name := t[at].name; len(name) <= len(text) && name == string(text[:len(name)]) {
			return t[at].value, true
		}
	}
	return value, false
}

// below returns the value of a name that begins with text.
func (t prefixTable[T]) below(text []byte) (value T, found bool) {
	low, high := 0, len(t)
	for low < high {
		if middle := (low + high) / 2; t[middle].name < string(text) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(t) && len(t[low].name) >= len(text) && t[low].name[:len(text)] == string(text) {
		return t[low].value, true
	}
	return value, false
}

// names has the rules with names about one type, in one set.
type names struct {
	exact  map[string]*Rule
	prefix prefixTable[*Rule]
	// limits keep an action about everything below a name from being granted; limit does so whatever
	// the name is.
	limits prefixTable[*Rule]
	limit  *Rule
	// root is the rule about all names.
	root *Rule
	// levels has one rule of each level.
	levels []*Rule
}

func (n *names) add(rule *Rule) {
	isLimit := rule.Level != "write"
	switch rule.Match {
	case "exact":
		n.exact[rule.Name] = rule
	case "prefix":
		n.prefix.add(rule.Name, rule)
		if rule.Name == "" {
			n.root = rule
		}
	default:
		if isLimit {
			n.limit = rule
		}
	}
	if isLimit && rule.Match != "other" {
		n.limits.add(rule.Name, rule)
	}
	if !slices.ContainsFunc(n.levels, func(one *Rule) bool { return one.Level == rule.Level }) {
		n.levels = append(n.levels, rule)
	}
}

func (n *names) ruleOf(id []byte) *Rule {
	if rule := n.exact[string(id)]; rule != nil {
		return rule
	}
	rule, _ := n.prefix.longest(id)
	return rule
}

func (n *names) limitBelow(id []byte) *Rule {
	if rule, found := n.limits.below(id); found {
		return rule
	}
	return n.limit
}

func readLayer(read members, grants map[string][]string) layer {
	made := layer{exact: map[string]*ruleSet{}}
	for _, one := range read.list("Sets") {
		set := readSet(read.text("Layer"), object(one), grants)
		if object(one).text("Match") == "exact" {
			made.exact[set.name] = set
		} else {
			must(object(one).text("Match") == "prefix")
			made.prefixes.add(set.name, set)
		}
	}
	made.prefixes.sort()
	for _, one := range made.prefixes {
		if one.parent >= 0 {
			one.value.next = made.prefixes[one.parent].value
		}
	}
	for name, set := range made.exact {
		if name != "default" {
			set.next, _ = made.prefixes.longest([]byte(name))
		}
	}
	return made
}

func readSet(layer string, read members, grants map[string][]string) *ruleSet {
	set := &ruleSet{
		name: read.text("Name"), scalars: map[string]*Rule{}, named: map[string]*names{},
	}
	rule := func(resource, match, name, level string, from [][2]int) *Rule {
		actions, isLevel := grants[level]
		must(isLevel)
		made := &Rule{
			Layer: layer, NamespaceMatch: read.text("Match"), Namespace: set.name, Resource: resource,
			Match: match, Name: name, Level: level, Grants: actions, from: from,
		}
		if set.any == nil && level != "deny" {
			set.any = made
		}
		return made
	}
	if value := read["Management"]; value != nil {
		level, from := withSources(value, "Level")
		set.management = rule("namespace", "scalar", "", level, from)
	}
	for resource, value := range read.inner("Scalars") {
		level, from := withSources(value, "Level")
		set.scalars[resource] = rule(resource, "scalar", "", level, from)
	}
	for resource, value := range read.inner("Named") {
		made := &names{exact: map[string]*Rule{}}
		for member, match := range map[string]string{"Exact": "exact", "Prefix": "prefix"} {
			for level, all := range object(value).inner(member) {
				for _, one := range list(all) {
					name, from := withSources(one, "Name")
					made.add(rule(resource, match, name, level, from))
				}
			}
		}
		for _, level := range texts(object(value).maybeList("Other")) {
			made.add(rule(resource, "other", "", level, nil))
		}
		made.prefix.sort()
		made.limits.sort()
		set.named[resource] = made
	}
	return set
}

// withSources reads a text, or an object that says where it comes from.
func withSources(value any, member string) (string, [][2]int) {
	if plain, isText := value.(string); isText {
		return plain, nil
	}
	var from [][2]int
	for _, pair := range object(value).list("From") {
		ends := list(pair)
		must(len(ends) == 2)
		var both [2]int
		for i, end := range ends {
			number, isNumber := end.(json.Number)
			must(isNumber)
			n, err := number.Int64()
			must(err == nil && n >= 0)
			both[i] = int(n)
		}
		from = append(from, both)
	}
	return object(value).text(member), from
}

// members are those of a JSON object. Reading one of another type panics with errUnreadable.
// Decoding into structs would take names in any letter case.
type members map[string]any

var errUnreadable = errors.New("unreadable")

func must(holds bool) {
	if !holds {
		panic(errUnreadable)
	}
}

func parse(text []byte) members {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	must(decoder.Decode(&value) == nil)
	return object(value)
}

func as[T any](value any) T {
	made, is := value.(T)
	must(is)
	return made
}

func object(value any) members { return as[map[string]any](value) }
func list(value any) []any     { return as[[]any](value) }

func texts(value any) []string {
	made := []string{}
	for _, one := range list(value) {
		made = append(made, as[string](one))
	}
	return made
}

func (m members) text(name string) string        { return as[string](m[name]) }
func (m members) flag(name string) bool          { return as[bool](m[name]) }
func (m members) number(name string) json.Number { return as[json.Number](m[name]) }
func (m members) list(name string) []any         { return list(m[name]) }
func (m members) inner(name string) members      { return object(m[name]) }

func (m members) maybe(name string) *string {
	if m[name] == nil {
		return nil
	}
	text := m.text(name)
	return &text
}

// maybeList returns a list, empty if it is absent.
func (m members) maybeList(name string) []any {
	if m[name] == nil {
		return []any{}
	}
	return m.list(name)
}
