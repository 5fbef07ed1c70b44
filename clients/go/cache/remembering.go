package cache

import (
	"hash/maphash"
	"sync/atomic"

	"conclave.example/clients/go/rights"
)

// remembered is how many answers are remembered: at least the last so many.
const remembered, buckets = 1024, 256

type question struct{ resourceType, action, id, namespace string }

// remembering has rights, and the last answers that they gave. Reading takes no lock.
type remembering struct {
	rights         *rights.Rights
	recent, before atomic.Pointer[answers]
}

type answers struct {
	count   atomic.Int32
	buckets [buckets]atomic.Pointer[answer]
}

type answer struct {
	question question
	decision rights.Decision
	next     *answer
}

var seed = maphash.MakeSeed()

func (q *question) bucket() uint64 {
	sum := maphash.String(seed, q.id)
	for _, part := range [...]string{q.resourceType, q.action, q.namespace} {
		sum = sum*31 + maphash.String(seed, part)
	}
	return sum % buckets
}

func (r *remembering) decide(q question) rights.Decision {
	bucket := q.bucket()
	if found := r.recent.Load().find(bucket, &q); found != nil {
		return found.decision
	}
	var decision rights.Decision
	if found := r.before.Load().find(bucket, &q); found != nil {
		decision = found.decision
	} else {
		decision = r.rights.Decide(q.resourceType, q.action, q.id, q.namespace)
	}
	r.add(bucket, &answer{question: q, decision: decision})
	return decision
}

func (a *answers) find(bucket uint64, q *question) *answer {
	if a == nil {
		return nil
	}
	found := a.buckets[bucket].Load()
	for found != nil && found.question != *q {
		found = found.next
	}
	return found
}

func (r *remembering) add(bucket uint64, made *answer) {
	recent := r.recent.Load()
	if recent == nil || recent.count.Add(1) > remembered {
		fresh := &answers{}
		if r.recent.CompareAndSwap(recent, fresh) {
			r.before.Store(recent)
		}
		recent = r.recent.Load()
	}
	head := &recent.buckets[bucket]
	for {
		made.next = head.Load()
		if head.CompareAndSwap(made.next, made) {
			return
		}
	}
}
