// Walks through what consul/api has of this API. Prints a line for each step.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/consul/api"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func expect(holds bool, what string) {
	if !holds {
		must(fmt.Errorf("not so: %s", what))
	}
}

func got[T any](value T, _ any, err error) T {
	must(err)
	return value
}

func client(token string) *api.Client {
	config := api.DefaultConfig()
	config.Token = token
	made, err := api.NewClient(config)
	must(err)
	return made
}

func main() {
	first := got(client("").ACL().Bootstrap())
	c := client(first.SecretID)
	acl := c.ACL()
	ok("bootstrap")

	rules := `service_prefix "" { policy = "read" } key "a" { policy = "write" }`
	policy := got(acl.PolicyCreate(&api.ACLPolicy{Name: "readers", Rules: rules}, nil))
	policy.Description = "changed"
	got(acl.PolicyUpdate(policy, nil))
	expect(got(acl.PolicyReadByName("readers", nil)).Description == "changed", "policy")
	expect(len(got(acl.PolicyList(nil))) == 3, "policies")
	ok("policies")

	links := []*api.ACLLink{{Name: "readers"}}
	role := got(acl.RoleCreate(&api.ACLRole{Name: "ops", Policies: links}, nil))
	role.ServiceIdentities = []*api.ACLServiceIdentity{{ServiceName: "web"}}
	got(acl.RoleUpdate(role, nil))
	expect(len(got(acl.RoleReadByName("ops", nil)).ServiceIdentities) == 1, "role")
	ok("roles")

	token := got(acl.TokenCreate(&api.ACLToken{Description: "ci", Policies: links, Roles: links[:0]}, nil))
	own := got(client(token.SecretID).ACL().TokenReadSelf(nil))
	expect(own.AccessorID == token.AccessorID, "own token")
	token.Description = "changed"
	got(acl.TokenUpdate(token, nil))
	copied := got(acl.TokenClone(token.AccessorID, "copy", nil))
	expect(len(got(acl.TokenList(nil))) == 4, "tokens")
	must(drop(acl.TokenDelete(copied.AccessorID, nil)))
	ok("tokens")

	config := map[string]any{
		"JWTValidationPubKeys": []string{os.Getenv("JWT_PUBLIC_KEY")},
		"ClaimMappings":        map[string]string{"sub": "sub"},
	}
	method := &api.ACLAuthMethod{Name: "jwt", Type: "jwt", MaxTokenTTL: 5 * time.Minute, Config: config}
	got(acl.AuthMethodCreate(method, nil))
	rule := got(acl.BindingRuleCreate(&api.ACLBindingRule{
		AuthMethod: "jwt", BindType: api.BindingRuleBindTypeRole, BindName: "ops", Selector: "value.sub == ann",
	}, nil))
	expect(len(got(acl.BindingRuleList("jwt", nil))) == 1, "binding rules")
	login := got(acl.Login(&api.ACLLoginParams{AuthMethod: "jwt", BearerToken: os.Getenv("JWT")}, nil))
	expect(login.Roles[0].Name == "ops", "login")
	must(drop(acl.Logout(&api.WriteOptions{Token: login.SecretID})))
	ok("auth methods, binding rules, login, logout")

	entries := c.ConfigEntries()
	web := &api.ServiceConfigEntry{Kind: api.ServiceDefaults, Name: "web", Protocol: "http"}
	got(entries.Set(web, nil))
	read, meta, err := entries.Get(api.ServiceDefaults, "web", nil)
	must(err)
	expect(read.(*api.ServiceConfigEntry).Protocol == "http", "entry")
	expect(!got(entries.CAS(web, read.GetModifyIndex()+1, nil)), "cas")
	web.Protocol = "grpc"
	expect(got(entries.CAS(web, read.GetModifyIndex(), nil)), "cas")
	ok("config entries, cas")

	held := make(chan []api.ConfigEntry)
	_, meta, err = entries.List(api.ServiceDefaults, nil)
	must(err)
	go func() {
		held <- got(entries.List(api.ServiceDefaults, &api.QueryOptions{WaitIndex: meta.LastIndex, WaitTime: 30 * time.Second}))
	}()
	got(entries.Set(&api.ServiceConfigEntry{Kind: api.ServiceDefaults, Name: "db"}, nil))
	expect(len(<-held) == 2, "blocking query")
	ok("blocking query")

	namespace := got(c.Namespaces().Create(&api.Namespace{Name: "team", Meta: map[string]string{"a": "b"}}, nil))
	expect(namespace.Meta["a"] == "b", "namespace")
	ok("namespaces")

	must(drop(acl.BindingRuleDelete(rule.ID, nil)))
	must(drop(acl.AuthMethodDelete("jwt", nil)))
	must(drop(acl.TokenDelete(token.AccessorID, nil)))
	must(drop(acl.RoleDelete(role.ID, nil)))
	must(drop(acl.PolicyDelete(policy.ID, nil)))
	ok("deletes")
}

func ok(step string) { fmt.Println("ok", step) }

func drop(_ *api.WriteMeta, err error) error { return err }
