//! Walks through what rs-consul has of the ACL API. Prints a line for each step.
use rs_consul::{ACLTokenPolicyLink, Config, Consul, CreateACLPolicyRequest, CreateACLTokenPayload};

fn client(token: String) -> Consul {
    let address = format!("http://{}", std::env::var("CONSUL_HTTP_ADDR").unwrap());
    Consul::new(Config {
        address,
        token: Some(token),
        ..Default::default()
    })
}

#[tokio::main]
async fn main() {
    let consul = client(std::env::var("CONSUL_HTTP_TOKEN").unwrap());

    let policy = CreateACLPolicyRequest {
        name: "readers".into(),
        description: Some("made by rs-consul".into()),
        rules: Some("service_prefix \"\" { policy = \"read\" }".into()),
    };
    let made = consul.create_acl_policy(&policy).await.unwrap();
    let all = consul.get_acl_policies().await.unwrap();
    assert!(all.iter().any(|one| one.id == made.id && one.name == "readers"));
    println!("ok policies");

    let token = CreateACLTokenPayload {
        description: Some("ci".into()),
        policies: vec![ACLTokenPolicyLink {
            id: None,
            name: Some("readers".into()),
        }],
        ..Default::default()
    };
    let token = consul.create_acl_token(&token).await.unwrap();
    let read = consul.read_acl_token(token.accessor_id.clone()).await.unwrap();
    assert_eq!(read.policies[0].id.as_ref(), Some(&made.id));
    assert!(client(token.secret_id).get_acl_tokens().await.is_err());
    assert_eq!(consul.get_acl_tokens().await.unwrap().len(), 3);
    println!("ok tokens");

    consul.delete_acl_token(token.accessor_id).await.unwrap();
    consul.delete_acl_policy(made.id).await.unwrap();
    assert_eq!(consul.get_acl_tokens().await.unwrap().len(), 2);
    println!("ok deletes");
}
