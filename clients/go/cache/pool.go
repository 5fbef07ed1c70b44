package cache

import (
	"container/list"
	"errors"
	"sync"
	"time"
)

// PoolOptions say how the rights of many tokens are cached. Token and TokenProvider are not used.
type PoolOptions struct {
	Options
	// MaxTokens is how many tokens are kept. Default 10,000.
	MaxTokens int
	// Idle is how long a token is kept that is not used. Default 10 min.
	Idle time.Duration
}

// Pool has caches of many tokens, as a gateway needs them. They share connections.
type Pool struct {
	options  PoolOptions
	mu       sync.Mutex
	bySecret map[string]*list.Element
	byUse    list.List // of *pooled, the least recently used first
	timer    *time.Timer
}

type pooled struct {
	cache  *Cache
	secret string
	usedAt time.Time
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
	return &Pool{options: options, bySecret: map[string]*list.Element{}}, nil
}

// For returns the cache of a token, which may not be ready yet. Ask for it at each request: a cache
// that is not asked for is closed.
func (p *Pool) For(secret string) (*Cache, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.bySecret[secret]
	// A token that has ended may be made again: it is asked about again, but not at each request.
	if at != nil && at.Value.(*pooled).cache.endedFor() > p.options.FreshFor {
		p.drop(at)
		at = nil
	}
	if at == nil {
		options := p.options.Options
		options.Token, options.TokenProvider = secret, nil
		cache, err := Open(options)
		if err != nil {
			return nil, err
		}
		at = p.byUse.PushBack(&pooled{cache: cache, secret: secret})
		p.bySecret[secret] = at
	}
	used := at.Value.(*pooled)
	used.usedAt = time.Now()
	p.byUse.MoveToBack(at)
	if p.byUse.Len() > p.options.MaxTokens {
		p.drop(p.byUse.Front())
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(p.options.Idle, p.dropIdle)
	}
	return used.cache, nil
}

// Len returns the number of tokens.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byUse.Len()
}

// Close closes all caches.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.byUse.Len() > 0 {
		p.drop(p.byUse.Front())
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func (p *Pool) drop(at *list.Element) {
	used := p.byUse.Remove(at).(*pooled)
	delete(p.bySecret, used.secret)
	used.cache.Close()
}

func (p *Pool) dropIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	for at := p.byUse.Front(); at != nil; at = p.byUse.Front() {
		if left := p.options.Idle - time.Since(at.Value.(*pooled).usedAt); left > 0 {
			p.timer = time.AfterFunc(left, p.dropIdle)
			return
		}
		p.drop(at)
	}
}
