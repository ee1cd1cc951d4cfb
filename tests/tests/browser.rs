//! The status page in a real browser. Where there is none it says so.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use codemode_protocol::{Executor, Host};
use codemode_tests::{
    daemon::Daemon,
    programs::{Tools, program, program_for},
};
use tokio::task::block_in_place;

/// The Chromium of this machine: what `CODEMODE_CHROMIUM` names, else what is found where programs are.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CODEMODE_CHROMIUM") {
        return Some(named.into());
    }
    let folders: Vec<_> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|file| file.is_file())
}

/// Opens `url` for some seconds of the page's own time.
fn browse(browser: &Path, profile: &Path, url: &str, what: &[&str]) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=1100,1000", "--virtual-time-budget=2500"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(what)
        .arg(url)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "the browser ended with {}", output.status);
    String::from_utf8(output.stdout).expect("a document is text")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_draws_what_runs_in_a_browser() {
    let Some(browser) = chromium() else {
        println!(
            "skipped: no Chromium on this machine (Debian's package is `chromium`; CODEMODE_CHROMIUM may name one)"
        );
        return;
    };
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    let tools = Tools::default();
    for at in 0..40 {
        let code = format!("async () => {{ for (let i = 0; i < {at}e4; i++); return api.echo({at}); }}");
        executor.execute(program(&code), tools.host()).await.expect("a run");
    }
    executor.execute(program_for(50, "async () => { for (;;) {} }"), Host::default()).await.expect("a run");

    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("{}/", daemon.url().replace("ws://", "http://"));
    let document = block_in_place(|| browse(&browser, folder.path(), &url, &["--dump-dom"]));
    for part in [
        ">ready</span>",
        "<td class=\"failed\">timeout</td>",
        "<td>completed</td>",
        "<polyline class=\"p50\" points=\"",
        "<dt>sessions</dt><dd>1 </dd>",
        "warm sandboxes",
    ] {
        assert!(document.contains(part), "{part} is not in the page:\n{document}");
    }

    let picture = env::temp_dir().join(format!("codemoded-page-{}.png", std::process::id()));
    block_in_place(|| browse(&browser, folder.path(), &url, &[&format!("--screenshot={}", picture.display())]));
    let size = fs::metadata(&picture).expect("a picture of the page").len();
    println!("a picture of the page, {size} bytes: {}", picture.display());
    assert!(size > 10_000, "the picture shows next to nothing: {size} bytes");
}
