import org.kiwiproject.consul.AclClient;
import org.kiwiproject.consul.Consul;
import org.kiwiproject.consul.ConsulException;
import org.kiwiproject.consul.model.acl.ImmutablePolicy;
import org.kiwiproject.consul.model.acl.ImmutablePolicyLink;
import org.kiwiproject.consul.model.acl.ImmutableRole;
import org.kiwiproject.consul.model.acl.ImmutableRolePolicyLink;
import org.kiwiproject.consul.model.acl.ImmutableRoleLink;
import org.kiwiproject.consul.model.acl.ImmutableRoleServiceIdentity;
import org.kiwiproject.consul.model.acl.ImmutableToken;

/** Walks through what kiwiproject's consul-client has of this API. Prints a line for each step. */
public class Walk {
  private static Consul client(String token) {
    return Consul.builder()
        .withUrl("http://" + System.getenv("CONSUL_HTTP_ADDR"))
        .withTokenAuth(token)
        .build();
  }

  private static void expect(boolean holds, String what) {
    if (!holds) throw new IllegalStateException("not so: " + what);
  }

  private static void ok(String step) {
    System.out.println("ok " + step);
  }

  public static void main(String[] args) {
    var consul = client(System.getenv("CONSUL_HTTP_TOKEN"));
    var acl = consul.aclClient();
    expect(consul.statusClient().getLeader().contains(":"), "leader");
    expect(consul.statusClient().getPeers().size() == 1, "peers");
    ok("status");

    var draft = ImmutablePolicy.builder().name("readers").rules("key \"a\" { policy = \"read\" }");
    var policy = acl.createPolicy(draft.build());
    acl.updatePolicy(policy.id(), draft.id(policy.id()).description("changed").build());
    expect(acl.readPolicyByName("readers").id().equals(policy.id()), "policy");
    expect(acl.listPolicies().size() == 3, "policies");
    ok("policies");

    var role =
        acl.createRole(
            ImmutableRole.builder()
                .name("ops")
                .addPolicies(ImmutableRolePolicyLink.builder().id(policy.id()).build())
                .build());
    var web = ImmutableRoleServiceIdentity.builder().name("web").build();
    acl.updateRole(
        role.id(), ImmutableRole.builder().name("ops").addServiceIdentities(web).build());
    expect(acl.readRoleByName("ops").serviceIdentities().size() == 1, "role");
    expect(acl.listRoles().size() == 1, "roles");
    ok("roles");

    var token =
        acl.createToken(
            ImmutableToken.builder()
                .description("ci")
                .local(false)
                .addPolicies(ImmutablePolicyLink.builder().id(policy.id()).build())
                .addRoles(ImmutableRoleLink.builder().name("ops").build())
                .build());
    var own = client(token.secretId()).aclClient().readSelfToken();
    expect(own.accessorId().equals(token.accessorId()), "own token");
    var changed = ImmutableToken.builder().local(false).id(token.accessorId());
    acl.updateToken(token.accessorId(), changed.description("changed").build());
    var copy = acl.cloneToken(token.accessorId(), ImmutableToken.builder().local(false).build());
    expect(acl.listTokens().size() == 4, "tokens");
    acl.deleteToken(copy.accessorId());
    expect(refused(client(token.secretId()).aclClient()), "a right that is missing");
    ok("tokens");

    acl.deleteToken(token.accessorId());
    acl.deleteRole(role.id());
    acl.deletePolicy(policy.id());
    expect(acl.listTokens().size() == 2, "deletes");
    ok("deletes");
    System.exit(0);
  }

  private static boolean refused(AclClient acl) {
    try {
      acl.listTokens();
      return false;
    } catch (ConsulException why) {
      return why.getCode() == 403;
    }
  }
}
