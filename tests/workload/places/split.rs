// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A request in two writes, by Rust's standard library; with `late` in one, and the server takes its time; with `lock` it waits for a
// lock that another thread keeps; with `burn` it computes. The lines that matter are marked.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

static LOCK: Mutex<u32> = Mutex::new(0);
static KEPT: AtomicBool = AtomicBool::new(false);

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[inline(never)]
fn request(conn: &mut TcpStream) {
    conn.write_all(&[0u8; 40]).unwrap(); // first
    conn.write_all(&[0u8; 136]).unwrap(); // second
    conn.read_exact(&mut [0u8; 4]).unwrap();
}

#[inline(never)]
fn ask_late(conn: &mut TcpStream) {
    conn.write_all(&[0u8; 176]).unwrap();
    conn.read_exact(&mut [0u8; 4]).unwrap(); // late read
}

#[inline(never)]
fn late(conn: &mut TcpStream) {
    sleep(ms(30)); // late wait
    conn.write_all(b"done").unwrap(); // late answer
}

#[inline(never)]
fn keep_lock() {
    let kept = LOCK.lock().unwrap();
    KEPT.store(true, Ordering::SeqCst);
    sleep(ms(30)); // lock sleep
    KEPT.store(false, Ordering::SeqCst);
    drop(kept); // lock release
    std::hint::black_box(0); // no call is its last deed, which would leave its frame
}

#[inline(never)]
fn take_lock() {
    while !KEPT.load(Ordering::SeqCst) {
        sleep(ms(1));
    }
    *LOCK.lock().unwrap() += 1; // lock wait
}

#[inline(never)]
fn compute(until: Instant) -> u64 {
    let mut count = 0;
    while Instant::now() < until {
        count += 1;
    }
    count
}

fn serve(listener: TcpListener, mode: String) {
    let (mut conn, _) = listener.accept().unwrap();
    let mut request = [0u8; 176];
    if mode == "lock" {
        std::thread::spawn(|| loop {
            keep_lock();
            sleep(ms(10));
        });
    }
    while conn.read_exact(&mut request).is_ok() {
        match mode.as_str() {
            "late" => {
                late(&mut conn);
                continue;
            }
            "lock" => take_lock(),
            "burn" => assert!(compute(Instant::now() + ms(30)) > 0),
            _ => (),
        }
        conn.write_all(b"done").unwrap();
    }
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let served = mode.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || serve(listener, served));
    let mut conn = TcpStream::connect(at).unwrap();
    println!("ready {}", std::process::id());
    std::io::stdin().read_line(&mut String::new()).unwrap();
    for _ in 0..30 {
        if mode.is_empty() {
            request(&mut conn);
        } else {
            ask_late(&mut conn);
        }
    }
}
