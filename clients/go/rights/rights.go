// Package rights decides by a feed of rights, in this process (docs/rights.md has the algorithm).
// Deciding does not allocate. What cannot be read is denied.
package rights

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reason says why something is allowed or denied.
type Reason string

// The reasons of decisions.
const (
	// Allowed and Denied are decisions by a rule, or by what holds without one.
	Allowed Reason = "allowed"
	Denied  Reason = "denied"
	// Invalid means that the feed or the question cannot be read.
	Invalid Reason = "invalid"
	// Version means that the feed needs a newer library.
	Version Reason = "version"
)

// Decision is a decision, with the rule that made it if one did.
type Decision struct {
	Allow  bool
	Reason Reason
	Rule   *Rule
}

// Step is a step of the way from a token to a text of rules.
type Step struct{ Type, ID, Name string }

// Source says where a rule is written: the way from the token to a text, and a line of that.
type Source struct {
	Chain []Step
	Line  int
}

// Rights are the rights of one token, compiled from a feed. They never change.
type Rights struct {
	// Index is the index of the feed.
	Index uint64
	// AccessorID is the token.
	AccessorID string
	// Namespace is that of the token.
	Namespace string
	// Problem is Invalid or Version if nothing can be decided, else empty.
	Problem Reason

	resources    map[string]*resource
	application  *resource
	action       string
	anyByDefault bool
	layers       []layer
	origins      [][]Step
}

type form int

const (
	named form = iota
	scalar
	namespace
)

// resource says how rules about one type of resources decide.
type resource struct {
	name       string
	form       form
	actions    []string
	place      string
	otherwise  *resource
	all, below *string
	any        []string
	allow      bool
}

type layer struct {
	exact    map[string]*ruleSet
	prefixes prefixTable[*ruleSet]
}

const knownVersion = "1"

// Parse compiles a feed.
func Parse(feed []byte) (made *Rights) {
	defer func() {
		if problem := recover(); problem == errUnreadable {
			made = &Rights{Problem: Invalid}
		} else if problem != nil {
			panic(problem)
		}
	}()
	read := parse(feed)
	if version := read.number("Version"); version != knownVersion {
		return &Rights{Problem: Version}
	}
	index, err := read.number("Index").Int64()
	must(err == nil && index >= 0)
	r := &Rights{
		Index: uint64(index), AccessorID: read.text("AccessorID"), Namespace: read.text("Namespace"),
		resources: map[string]*resource{}, anyByDefault: read.flag("AnyByDefault"),
	}
	for _, chain := range read.maybeList("Origins") {
		r.origins = append(r.origins, stepsOf(chain))
	}
	r.readResources(read.inner("Resources"))
	application := read.inner("Application")
	r.application, r.action = r.resources[application.text("Resource")], application.text("Action")
	must(r.application != nil)
	grants := map[string][]string{}
	for level, actions := range read.inner("Grants") {
		grants[level] = texts(actions)
	}
	for _, one := range read.list("Layers") {
		r.layers = append(r.layers, readLayer(object(one), grants))
	}
	return r
}

func (r *Rights) readResources(all members) {
	for name, one := range all {
		r.resources[name] = readResource(name, object(one))
	}
	for name, one := range all {
		if otherwise := object(one).maybe("Else"); otherwise != nil {
			r.resources[name].otherwise = r.resources[*otherwise]
			must(r.resources[name].otherwise != nil)
		}
	}
	for _, one := range r.resources {
		must(one.form != namespace || one.otherwise != nil)
		// What decides otherwise must not go round in a circle.
		for at, steps := one, 0; at.otherwise != nil; at, steps = at.otherwise, steps+1 {
			must(steps <= len(r.resources))
		}
	}
}

func readResource(name string, read members) *resource {
	at := slices.Index([]string{"named", "scalar", "namespace"}, read.text("Form"))
	must(at >= 0)
	made := &resource{
		name: name, form: form(at), all: read.maybe("All"), below: read.maybe("Below"),
		any: texts(read.maybeList("Any")), allow: read.text("Default") == "allow",
	}
	if place := read.maybe("In"); place != nil {
		made.place = *place
	}
	never := texts(read.maybeList("Never"))
	for _, action := range texts(read.list("Actions")) {
		if !slices.Contains(never, action) {
			made.actions = append(made.actions, action)
		}
	}
	return made
}

// Can reports whether an action on a resource is allowed in a namespace.
func (r *Rights) Can(resourceType, action, id, namespace string) bool {
	return r.Decide(resourceType, action, id, namespace).Allow
}

// Decide is Can with the reason and the rule.
func (r *Rights) Decide(resourceType, action, id, namespace string) Decision {
	if r.Problem != "" {
		return Decision{Reason: r.Problem}
	}
	if !utf8.ValidString(resourceType) || !utf8.ValidString(action) || !utf8.ValidString(id) {
		return Decision{Reason: Invalid}
	}
	if namespace != r.Namespace {
		if !isNamespace(namespace) {
			return Decision{Reason: Invalid}
		}
		namespace = strings.ToLower(namespace)
	}
	own, isApplication := strings.CutPrefix(resourceType, "app:")
	if !isApplication {
		if of := r.resources[resourceType]; of != nil {
			return r.decide(of, action, []byte(id), namespace)
		}
	}
	// Longer names than this are rare, and take memory.
	var buffer [256]byte
	key := append(appendEscaped(buffer[:0], own), '/')
	key = append(append(appendEscaped(key, action), '/'), id...)
	return r.decide(r.application, r.action, key, namespace)
}

// namespaceMax is the most characters that the name of a namespace has.
const namespaceMax = 63

// isNamespace reports whether a text, in whatever letter case, is the name of a namespace by the
// rule of the server.
func isNamespace(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		isInner := c == '-' && i > 0 && i < len(text)-1
		if lower := c | 0x20; !isInner && (lower < 'a' || lower > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return text != "" && len(text) <= namespaceMax
}

func appendEscaped(to []byte, part string) []byte {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '%':
			to = append(to, "%25"...)
		case '/':
			to = append(to, "%2F"...)
		default:
			to = append(to, part[i])
		}
	}
	return to
}

func (r *Rights) decide(of *resource, action string, id []byte, place string) Decision {
	if !slices.Contains(of.actions, action) {
		return Decision{Reason: Denied}
	}
	if of.form == namespace {
		return r.decideNamespace(of, action, id)
	}
	if of.place != "" {
		place = of.place
	}
	for i := range r.layers {
		layer := &r.layers[i]
		if made := layer.decide(of, action, id, layer.first([]byte(place))); made.Reason != "" {
			return made
		}
	}
	return decided(of.allow, nil)
}

func (r *Rights) decideNamespace(of *resource, action string, id []byte) Decision {
	for i := range r.layers {
		for set := r.layers[i].first(id); set != nil; set = set.next {
			if set.management != nil {
				return granted(set.management, action)
			}
		}
	}
	if made := r.decide(of.otherwise, action, nil, "default"); made.Allow {
		return made
	}
	if !slices.Contains(of.any, action) {
		return Decision{Reason: Denied}
	}
	if r.anyByDefault {
		return decided(true, nil)
	}
	for i := range r.layers {
		for set := r.layers[i].first(id); set != nil; set = set.next {
			if set.any != nil {
				return decided(true, set.any)
			}
		}
	}
	return Decision{Reason: Denied}
}

// decide returns a decision without a reason if no rule is about the question. The sets are those
// about its namespace, from the first on.
func (l *layer) decide(of *resource, action string, id []byte, first *ruleSet) Decision {
	if of.form == named {
		if of.below != nil && action == *of.below {
			return below(first, of.name, id)
		}
		if of.all != nil && string(id) == *of.all {
			return everywhere(first, of.name, action)
		}
		for set := first; set != nil; set = set.next {
			if names := set.named[of.name]; names != nil {
				if rule := names.ruleOf(id); rule != nil {
					return granted(rule, action)
				}
			}
		}
		return Decision{}
	}
	for set := first; set != nil; set = set.next {
		rule := set.management
		if of.form == scalar {
			rule = set.scalars[of.name]
		}
		if rule != nil {
			return granted(rule, action)
		}
	}
	if other := of.otherwise; of.form == scalar && other != nil {
		return l.decide(other, action, nil, l.first([]byte(other.place)))
	}
	return Decision{}
}

// first returns the first set about a namespace; next leads to the others.
func (l *layer) first(place []byte) *ruleSet {
	if set := l.exact[string(place)]; set != nil {
		return set
	}
	if string(place) == "default" {
		return nil
	}
	set, _ := l.prefixes.longest(place)
	return set
}

func below(first *ruleSet, name string, id []byte) Decision {
	var cover *Rule
	for set := first; set != nil; set = set.next {
		names := set.named[name]
		if names == nil {
			continue
		}
		if limit := names.limitBelow(id); limit != nil {
			return decided(false, limit)
		}
		if cover == nil {
			cover, _ = names.prefix.longest(id)
		}
	}
	if cover == nil {
		return Decision{}
	}
	return decided(cover.Level == "write", cover)
}

func everywhere(first *ruleSet, name, action string) Decision {
	var seen bool
	var root *Rule
	for set := first; set != nil; set = set.next {
		names := set.named[name]
		if names == nil {
			continue
		}
		seen = true
		if root == nil {
			root = names.root
		}
		for _, rule := range names.levels {
			if made := granted(rule, action); made.Allow == (action == "read") {
				return made
			}
		}
	}
	switch {
	case action == "read" && seen:
		return Decision{Reason: Denied}
	case action != "read" && root != nil:
		return decided(true, root)
	}
	return Decision{}
}

func decided(allow bool, rule *Rule) Decision {
	if allow {
		return Decision{true, Allowed, rule}
	}
	return Decision{false, Denied, rule}
}

func granted(rule *Rule, action string) Decision {
	return decided(slices.Contains(rule.Grants, action), rule)
}

// SourcesOf returns where a rule is written. It is empty for a feed without sources.
func (r *Rights) SourcesOf(rule *Rule) []Source {
	var found []Source
	for _, pair := range rule.from {
		if pair[0] < len(r.origins) {
			found = append(found, Source{r.origins[pair[0]], pair[1]})
		}
	}
	return found
}

func stepsOf(chain any) []Step {
	encoded, _ := json.Marshal(chain)
	var steps []Step
	must(json.Unmarshal(encoded, &steps) == nil)
	return steps
}
