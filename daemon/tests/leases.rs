//! Leases of PROTOCOL.md, over real sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use codemode_protocol::{
    capnweb::{Stub, Value},
    text,
};
use codemode_transport::CallError;
use support::{Client, Server, code, request, soon};

async fn acquire(client: &Client) -> Stub {
    match client.call("acquire", vec![]).await.unwrap() {
        Value::Stub(lease) => lease,
        other => panic!("no lease: {other:?}"),
    }
}

/// Calls a member of a lease.
async fn call(client: &Client, lease: &Stub, member: &str, args: Vec<Value>) -> Result<Value, CallError> {
    soon(client.0.call(lease, &[member], args)).await
}

/// The code and the text of what a program on the lease is refused with.
async fn refused(client: &Client, lease: &Stub, program: Value) -> (String, String) {
    match call(client, lease, "execute", vec![program]).await {
        Err(CallError::Thrown(Value::Error(error))) => (error.code().unwrap().to_owned(), error.message.clone()),
        other => panic!("it should have been refused: {other:?}"),
    }
}

fn invalid(text: &str) -> (String, String) {
    ("INVALID_REQUEST".to_owned(), text.to_owned())
}

#[tokio::test]
async fn a_lease_runs_one_program_and_says_how_long_it_was_waited_for() {
    let mut server = Server::start().await;
    let client = server.client().await;
    let lease = acquire(&client).await;
    assert_eq!(server.seen.borrow().leases, 1);
    assert_eq!(soon(client.0.read(&lease, &["waitMs"])).await.unwrap(), Value::Number(7.0));
    // A program that breaks a rule leaves it as it is.
    let (error, _) = refused(&client, &lease, request(&[])).await;
    assert_eq!(error, "INVALID_REQUEST");
    assert_eq!(server.seen.borrow().leases, 1);
    let outcome = call(&client, &lease, "execute", vec![code("echo")]).await.unwrap();
    let Value::Object(members) = outcome else { panic!("no outcome") };
    assert_eq!(members.get("termination"), Some(&"completed".into()));
    server.until(|seen| seen.leases == 0).await;
    assert_eq!(refused(&client, &lease, code("echo")).await, invalid(text::LEASE_USED));
    // Giving back what was used is fine, and changes nothing.
    call(&client, &lease, "release", vec![]).await.unwrap();
    assert_eq!(refused(&client, &lease, code("echo")).await, invalid(text::LEASE_USED));
    assert_eq!(server.seen.borrow().started, 1);
}

#[tokio::test]
async fn a_lease_is_given_back_by_release_by_disposal_and_with_its_session() {
    let mut server = Server::start().await;
    let client = server.client().await;
    let lease = acquire(&client).await;
    for _ in 0..2 {
        assert_eq!(call(&client, &lease, "release", vec![]).await.unwrap(), Value::Undefined);
        assert_eq!(server.seen.borrow().leases, 0);
    }
    assert_eq!(refused(&client, &lease, code("echo")).await, invalid(text::LEASE_RELEASED));

    let lease = acquire(&client).await;
    drop(lease);
    server.until(|seen| seen.leases == 0).await;

    let _lease = acquire(&client).await;
    assert_eq!(server.seen.borrow().leases, 1);
    client.0.close();
    server.until(|seen| seen.leases == 0).await;
}

#[tokio::test]
async fn an_acquire_that_waits_ends_with_its_release_and_with_the_drain() {
    let mut server = Server::start().await;
    let client = server.client().await;
    let crowded = request(&[("memoryLimit", Value::Number(f64::from(support::CROWDED)))]);
    let waiting = client.0.call(&client.0.main(), &["acquire"], vec![crowded.clone()]);
    server.until(|seen| seen.waiting == 1).await;
    drop(waiting);
    server.until(|seen| seen.waiting == 0).await;

    let held = acquire(&client).await;
    let waiting = client.0.call(&client.0.main(), &["acquire"], vec![crowded]);
    server.until(|seen| seen.waiting == 1).await;
    // The session lasts as long as a run.
    let run = client.0.call(&client.0.main(), &["execute"], vec![code("hang")]);
    server.until(|seen| seen.running == 1).await;
    server.drain();
    let Err(CallError::Thrown(Value::Error(error))) = soon(waiting).await else { panic!("it should be refused") };
    assert_eq!((error.code(), error.message.as_str()), (Some("SHUTTING_DOWN"), text::NOT_STARTED_SHUTTING_DOWN));
    let (refused, _) = refused(&client, &held, code("echo")).await;
    assert_eq!(refused, "SHUTTING_DOWN");
    drop(run);
    server.stopped().await;
}

#[tokio::test]
async fn a_wrong_option_is_refused_and_a_lease_has_no_other_members() {
    let server = Server::start().await;
    let client = server.client().await;
    let cases = [
        (Value::from(1), "options: must be an object, not a number"),
        (
            request(&[("memoryLimit", 1.into())]),
            "memoryLimit: 1 bytes; at least 2097152 bytes are needed. Ask for more, or leave it off for the default.",
        ),
    ];
    for (options, rule) in cases {
        let error = client.refused("acquire", vec![options]).await;
        assert_eq!((error.code(), error.message.as_str()), (Some("INVALID_REQUEST"), rule));
    }
    let lease = acquire(&client).await;
    let Err(CallError::Thrown(Value::Error(error))) = call(&client, &lease, "steal", vec![]).await else {
        panic!("it should be refused")
    };
    assert_eq!(error.message, "'steal' is not a function.");
    assert_eq!(soon(client.0.read(&lease, &["constructor"])).await.unwrap(), Value::Undefined);
    // A method that is read is a function of its own.
    let Value::Stub(release) = soon(client.0.read(&lease, &["release"])).await.unwrap() else { panic!("no function") };
    soon(client.0.call(&release, &[], vec![])).await.unwrap();
    assert_eq!(server.seen.borrow().leases, 0);
}
