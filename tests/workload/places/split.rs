// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A request in two writes, by Rust's standard library. The lines that write are marked.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

#[inline(never)]
fn request(conn: &mut TcpStream) {
    conn.write_all(&[0u8; 40]).unwrap(); // first
    conn.write_all(&[0u8; 136]).unwrap(); // second
    conn.read_exact(&mut [0u8; 4]).unwrap();
}

fn serve(listener: TcpListener) {
    let (mut conn, _) = listener.accept().unwrap();
    let mut request = [0u8; 176];
    while conn.read_exact(&mut request).is_ok() {
        conn.write_all(b"done").unwrap();
    }
}

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || serve(listener));
    let mut conn = TcpStream::connect(at).unwrap();
    println!("ready {}", std::process::id());
    std::io::stdin().read_line(&mut String::new()).unwrap();
    for _ in 0..30 {
        request(&mut conn);
    }
}
