package cache

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"conclave.example/clients/go/internal/nodes"
)

// PoolOptions say how the rights of many tokens are cached. Token and TokenProvider are not used.
type PoolOptions struct {
	Options
	// MaxTokens is how many tokens are kept. Default 10,000.
	MaxTokens int
	// Idle is how long a token is kept that is not used. Default 10 min.
	Idle time.Duration
}

// Pool has caches of many tokens, as a gateway needs them. They share connections. It is safe for
// any number of goroutines, and finds a cache without a lock.
type Pool struct {
	options  PoolOptions
	started  time.Time
	bySecret sync.Map // of *pooled

	mu       sync.Mutex // guards what follows, and changes of bySecret
	size     int
	dropped  []*Cache
	timer    *time.Timer
	isClosed bool
}

type pooled struct {
	cache  *Cache
	usedAt atomic.Int64
}

// OpenPool makes a pool. Tokens that are not used for the longest time go first.
func OpenPool(options PoolOptions) (*Pool, error) {
	if options.MaxTokens == 0 {
		options.MaxTokens = 10_000
	}
	if options.Idle == 0 {
		options.Idle = 10 * time.Minute
	}
	if options.MaxTokens < 0 || options.Idle < 0 {
		return nil, errors.New("MaxTokens and Idle are positive")
	}
	if err := options.complete(); err != nil {
		return nil, err
	}
	return &Pool{options: options, started: time.Now()}, nil
}

// For returns the cache of a token, which may not be ready yet. Ask for it at each request: a cache
// that is not asked for is closed. It is an error if the secret is blank or the pool is closed.
func (p *Pool) For(secret string) (*Cache, error) {
	if nodes.IsBlank(secret) {
		return nil, errors.New("the secret is blank")
	}
	if found := p.find(secret); found != nil {
		return found, nil
	}
	p.mu.Lock()
	defer p.unlock()
	if found := p.find(secret); found != nil {
		return found, nil
	}
	if p.isClosed {
		return nil, errors.New("the pool is closed")
	}
	p.drop(secret)
	options := p.options.Options
	options.Token, options.TokenProvider = secret, nil
	cache, err := Open(options)
	if err != nil {
		return nil, err
	}
	if p.size == p.options.MaxTokens {
		oldest, _ := p.oldest()
		p.drop(oldest)
	}
	made := &pooled{cache: cache}
	made.usedAt.Store(int64(time.Since(p.started)))
	p.bySecret.Store(secret, made)
	p.size++
	if p.timer == nil {
		p.timer = time.AfterFunc(p.options.Idle, p.dropIdle)
	}
	return cache, nil
}

// find returns the cache that there is, and notes its use. A token that has ended may be made
// again: it is asked about again, but not at each request.
func (p *Pool) find(secret string) *Cache {
	at, _ := p.bySecret.Load(secret)
	found, isThere := at.(*pooled)
	if !isThere || found.cache.endedFor() > p.options.FreshFor {
		return nil
	}
	found.usedAt.Store(int64(time.Since(p.started)))
	return found.cache
}

// Len returns the number of tokens.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size
}

// Close closes all caches.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.unlock()
	p.isClosed = true
	p.bySecret.Range(func(secret, _ any) bool {
		p.drop(secret)
		return true
	})
	if p.timer != nil {
		p.timer.Stop()
	}
}

// oldest returns the token that was not used for the longest time, and when it was. Looking through
// all is cheap beside the connection that a new token needs.
func (p *Pool) oldest() (oldest any, usedAt time.Duration) {
	usedAt = never
	p.bySecret.Range(func(secret, at any) bool {
		if used := time.Duration(at.(*pooled).usedAt.Load()); used < usedAt {
			oldest, usedAt = secret, used
		}
		return true
	})
	return oldest, usedAt
}

func (p *Pool) drop(secret any) {
	if at, isThere := p.bySecret.LoadAndDelete(secret); isThere {
		p.size--
		p.dropped = append(p.dropped, at.(*pooled).cache)
	}
}

// unlock closes outside mu what was dropped: a listener may use the pool.
func (p *Pool) unlock() {
	dropped := p.dropped
	p.dropped = nil
	p.mu.Unlock()
	for _, cache := range dropped {
		cache.Close()
	}
}

// dropIdle closes what is idle, and comes back when the next may be.
func (p *Pool) dropIdle() {
	p.mu.Lock()
	defer p.unlock()
	if p.isClosed {
		return
	}
	now := time.Since(p.started)
	p.bySecret.Range(func(secret, at any) bool {
		if now-time.Duration(at.(*pooled).usedAt.Load()) >= p.options.Idle {
			p.drop(secret)
		}
		return true
	})
	if p.timer = nil; p.size > 0 {
		_, usedAt := p.oldest()
		p.timer = time.AfterFunc(max(idleTurn, usedAt+p.options.Idle-now), p.dropIdle)
	}
}

// idleTurn is the least time between two looks at all tokens.
const idleTurn = time.Second
