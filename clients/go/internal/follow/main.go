// Command follow keeps caches of rights for the chaos test. It answers each line with one line:
//
//	open ID COUNT FRESH_MS STALE_MS SECRET ADDRESS,ADDRESS
//	look ID SERVICE    how many allow write on the service: those that are fresh, and the others
//	close ID
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"conclave.example/clients/go/cache"
)

func main() {
	followed := map[string][]*cache.Cache{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		command, id := words[0], words[1]
		switch command {
		case "open":
			caches, err := open(words[2:])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			followed[id] = caches
			fmt.Println("ok")
		case "look":
			fresh, others := look(followed[id], words[2])
			fmt.Println(fresh, others)
		case "close":
			for _, one := range followed[id] {
				one.Close()
			}
			delete(followed, id)
			fmt.Println("ok")
		}
	}
}

func open(words []string) ([]*cache.Cache, error) {
	count, err := strconv.Atoi(words[0])
	if err != nil {
		return nil, err
	}
	var caches []*cache.Cache
	for range count {
		one, err := cache.Open(cache.Options{
			FreshFor:  milliseconds(words[1]),
			MaxStale:  milliseconds(words[2]),
			Token:     words[3],
			Addresses: strings.Split(words[4], ","),
		})
		if err != nil {
			return nil, err
		}
		caches = append(caches, one)
	}
	return caches, nil
}

func milliseconds(text string) time.Duration {
	value, _ := strconv.Atoi(text)
	return time.Duration(value) * time.Millisecond
}

func look(caches []*cache.Cache, service string) (fresh, others int) {
	for _, one := range caches {
		// Before the decision: a cache that is not fresh any more may become it again.
		state := one.State()
		switch {
		case !one.Can("service", "write", service):
		case state == cache.Fresh:
			fresh++
		default:
			others++
		}
	}
	return fresh, others
}
