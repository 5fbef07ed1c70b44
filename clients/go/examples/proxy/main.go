// Proxy passes requests on to a server if the rights of their callers allow it. GET /orders/17
// needs action get on resource 17 of type orders:
//
//	key_prefix "orders/get/" { policy = "read" }
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"time"

	"conclave.example/clients/go/cache"
	"conclave.example/clients/go/rights"
)

// firstWait is how long the first request of a token waits for its rights.
const firstWait = 3 * time.Second

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the address to listen on")
	upstream := flag.String("upstream", "", "the `URL` of the server that is guarded")
	nodes := flag.String("nodes", "http://127.0.0.1:8500", "`URLs` of nodes, separated by commas")
	flag.Parse()
	target, err := url.Parse(*upstream)
	if err != nil || target.Host == "" {
		log.Fatal("-upstream is the URL of a server")
	}
	pool, err := cache.OpenPool(cache.PoolOptions{
		Options: cache.Options{Addresses: strings.Split(*nodes, ",")},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	proxy := &httputil.ReverseProxy{Rewrite: func(request *httputil.ProxyRequest) {
		request.SetURL(target)
		request.SetXForwarded()
		// The server behind needs no token, and could use it elsewhere.
		request.Out.Header.Del("Authorization")
	}}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	server := &http.Server{Handler: guard(pool, proxy), ReadHeaderTimeout: time.Minute}
	log.Fatal(server.Serve(listener))
}

// guard calls a handler if the rights of the request's token allow it.
func guard(pool *cache.Pool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if secret == "" {
			unauthorized(w)
			return
		}
		// Names that the server behind could read in another way.
		plain := path.Clean(r.URL.Path)
		if r.URL.RawPath != "" || (r.URL.Path != plain && r.URL.Path != plain+"/") {
			http.Error(w, "the path is ambiguous", http.StatusBadRequest)
			return
		}
		caller, err := pool.For(secret)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		first, cancel := context.WithTimeout(r.Context(), firstWait)
		defer cancel()
		_ = caller.Ready(first) // If it is not, that is why the request is refused.
		resourceType, id, _ := strings.Cut(plain[1:], "/")
		// A resource of the server's own, such as session, is another one.
		switch why := caller.Explain("app:"+resourceType, strings.ToLower(r.Method), id); {
		case why.Allow:
			next.ServeHTTP(w, r)
		case why.Reason == cache.Ended:
			unauthorized(w)
		case why.Reason == rights.Denied:
			http.Error(w, "you may not do that", http.StatusForbidden)
		default:
			http.Error(w, "it cannot be decided: "+string(why.Reason), http.StatusServiceUnavailable)
		}
	})
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="proxy"`)
	http.Error(w, "a live token is needed", http.StatusUnauthorized)
}
