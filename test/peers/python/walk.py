"""Walks through what py-consul has of this API. Prints a line for each step."""

import os
import threading

import consul

host, port = os.environ["CONSUL_HTTP_ADDR"].split(":")


def client(token=None):
    return consul.Consul(host=host, port=int(port), token=token)


def ok(step):
    print(f"ok {step}", flush=True)


first = client().acl.bootstrap()
c = client(first["SecretID"])
ok("bootstrap")

rules = {"service_prefix": {"": {"policy": "read"}}, "key": {"a": {"policy": "write"}}}
policy = c.acl.policy.create(name="readers", description="made by py-consul", rules=rules)
assert c.acl.policy.read(policy["ID"])["Name"] == "readers"
c.acl.policy.update(policy["ID"], name="readers", description="changed", rules=rules)
assert "readers" in [one["Name"] for one in c.acl.policy.list()]
ok("policies")

role = c.acl.role.create(name="ops", policies_name=["readers"], service_identities=[{"ServiceName": "web"}])
assert c.acl.role.read_by_name("ops")["Policies"][0]["ID"] == policy["ID"]
c.acl.role.update(role["ID"], name="ops", description="changed", policies_id=[policy["ID"]])
assert c.acl.role.read(role["ID"])["Description"] == "changed"
assert [one["Name"] for one in c.acl.role.list(policy=policy["ID"])] == ["ops"]
ok("roles")

token = c.acl.token.create(description="ci", policies_id=[policy["ID"]], roles_name=["ops"])
own = client(token["SecretID"]).acl.token.read_self()
assert own["AccessorID"] == token["AccessorID"]
c.acl.token.update(token["AccessorID"], description="changed", policies_name=["readers"])
copy = c.acl.token.clone(token["AccessorID"], description="copy")
assert c.acl.token.read(copy["AccessorID"])["Description"] == "copy"
assert len(c.acl.token.list()) == 4
assert c.acl.token.delete(copy["AccessorID"])
ok("tokens")

config = {"JWTValidationPubKeys": [os.environ["JWT_PUBLIC_KEY"]], "ClaimMappings": {"sub": "sub"}}
c.acl.auth_method.create("jwt", "jwt", config=config, max_token_ttl="5m")
c.acl.auth_method.update("jwt", "jwt", description="changed", config=config)
assert c.acl.auth_method.read("jwt")["Description"] == "changed"
rule = c.acl.binding_rule.create("jwt", "role", "ops", selector="value.sub == ann")
c.acl.binding_rule.update(rule["ID"], "jwt", "role", "ops", description="changed")
assert len(c.acl.binding_rule.list(auth_method="jwt")) == 1
login = c.acl.login("jwt", os.environ["JWT"])
assert login["Roles"][0]["Name"] == "ops"
c.acl.logout(login["SecretID"])
ok("auth methods, binding rules, login, logout")

template = c.acl.templated_policy.preview("builtin/service", {"Name": "web"})
assert 'service "web"' in template["Rules"]
ok("templated policies")

assert c.config.set("service-defaults", "web", {"Protocol": "http"})
entry = c.config.get("service-defaults", "web")
assert entry["Protocol"] == "http"
index = entry["ModifyIndex"]
assert not c.config.set("service-defaults", "web", {"Protocol": "tcp"}, cas=index + 1)
assert c.config.set("service-defaults", "web", {"Protocol": "grpc"}, cas=index)
assert [one["Name"] for one in c.config.list("service-defaults")] == ["web"]
ok("config entries, cas")

assert c.status.leader() and c.status.peers()
ok("status")

# py-consul has no blocking query of these endpoints: its own client of HTTP sends one
from consul.callback import CB  # noqa: E402

held = []
headers = c.prepare_headers(None)
at, _ = c.http.get(CB.json(index=True), "/v1/config/service-defaults", headers=headers)
params = [("index", at), ("wait", "30s")]
get = lambda: held.append(c.http.get(CB.json(index=True), "/v1/config/service-defaults", params=params, headers=headers))  # noqa: E731
reader = threading.Thread(target=get)
reader.start()
assert c.config.set("service-defaults", "db", {"Protocol": "tcp"})
reader.join()
assert [one["Name"] for one in held[0][1]] == ["db", "web"]
ok("blocking query")

assert c.config.delete("service-defaults", "db")
assert c.acl.binding_rule.delete(rule["ID"])
assert c.acl.auth_method.delete("jwt")
assert c.acl.token.delete(token["AccessorID"])
assert c.acl.role.delete(role["ID"])
assert c.acl.policy.delete(policy["ID"])
ok("deletes")
