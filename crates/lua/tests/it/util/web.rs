//! `http` and `net`, against a server that answers as it is asked.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use hostler_model::workflow::StepEnd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{World, alone};

/// What the server was asked, head and body.
type Asked = Rc<RefCell<Vec<String>>>;

async fn serve() -> (SocketAddr, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked: Asked = Rc::default();
    tokio::task::spawn_local({
        let asked = Rc::clone(&asked);
        async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::task::spawn_local(answer(stream, Rc::clone(&asked)));
            }
        }
    });
    (address, asked)
}

async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(head) = text.find("\r\n\r\n") {
            let length = text
                .to_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())
                .unwrap_or(0);
            if bytes.len() >= head + 4 + length {
                return Some(text);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

async fn answer(mut stream: TcpStream, asked: Asked) -> Option<()> {
    let text = request(&mut stream).await?;
    let path = text.split(' ').nth(1)?.to_owned();
    asked.borrow_mut().push(text);
    let head = |status: &str, headers: &str, length: usize| {
        format!(
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n"
        )
    };
    let reply = match path.as_str() {
        "/json" => {
            let headers =
                "content-type: application/json\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n";
            head("200 OK", headers, 9) + "{\"a\":[1]}"
        }
        "/missing" => head("404 Not Found", "", 4) + "gone",
        "/away" => head("302 Found", "location: /json\r\n", 0),
        "/around" => head("302 Found", "location: /around\r\n", 0),
        "/silent" => {
            tokio::time::sleep(std::time::Duration::from_secs(50)).await;
            return None;
        }
        "/short" => head("200 OK", "", 100) + "only this",
        "/huge" => {
            stream.write_all(head("200 OK", "", 80 << 20).as_bytes()).await.ok()?;
            let block = vec![b'x'; 1 << 20];
            for _ in 0..80 {
                stream.write_all(&block).await.ok()?;
            }
            return Some(());
        }
        "/address" => head("200 OK", "", 10) + "192.0.2.7\n",
        _ => head("200 OK", "", 2) + "ok",
    };
    stream.write_all(reply.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

/// Runs a script that knows the server as `URL`.
async fn run(world: World, address: SocketAddr, text: &str) -> World {
    let world = world.with("URL", &format!("http://{address}"));
    let result = world.step(&format!("local url = os.getenv('URL') or ''\n{text}")).await;
    assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
    world
}

#[test]
fn answers_are_tables_that_can_be_used_as_text() {
    alone(async {
        let (address, asked) = serve().await;
        run(
            World::new(),
            address,
            "local r = http.get(url .. '/json', { ['X-Mine'] = 'yes' })
             assert(r.status_code == 200 and r.status == '200 OK' and r.success and r.json.a[1] == 1)
             assert(r.headers['Content-Type'] == 'application/json' and r.headers['content-TYPE'] == 'application/json')
             assert(r.headers['Set-Cookie'] == 'a=1, b=2')
             assert(r:find('a') and r .. '' == '{\"a\":[1]}')
             local none = http.get(url .. '/missing')
             assert(none.status_code == 404 and not none.success and none.body == 'gone' and none.json == nil)
             assert(http.get(url .. '/away', { timeout = 5 }).json)
             http.post(url .. '/a', { b = { 1 } }, { Authorization = 'Bearer x' })
             http.put(url .. '/b', 'plain', { headers = { ['Content-Type'] = 'text/plain' }, timeout = 5 })
             http.request({ url = url .. '/c', method = 'patch', json = { 1 }, query = { q = 'a b' } })",
        )
        .await;
        let asked = asked.borrow();
        let find = |what: &str| asked.iter().find(|text| text.starts_with(what)).unwrap();
        assert!(find("GET /json").contains("x-mine: yes"));
        let post = find("POST /a ");
        assert!(post.contains("content-type: application/json") && post.ends_with("{\"b\":[1]}"));
        assert!(post.contains("authorization: Bearer x"));
        let put = find("PUT /b ");
        assert!(put.contains("content-type: text/plain") && put.ends_with("plain"));
        assert!(find("PATCH /c?q=a+b ").ends_with("[1]"));
    });
}

#[test]
fn what_fails_is_told_and_bounds_hold() {
    alone(async {
        let (address, _) = serve().await;
        run(
            World::new(),
            address,
            "for path, why in { ['/silent'] = 'in time', ['/around'] = 'redirect', ['/huge'] = 'net.download', ['/short'] = 'short' } do
               local r, told = http.get(url .. path, { timeout = if path == '/silent' then 0.2 else 30 })
               assert(r == nil and told:find(why), path .. tostring(told))
             end
             local r, told = http.get('nonsense')
             assert(r == nil and told)
             local r, told = http.get(url, { ['bad name'] = 'x' })
             assert(r == nil and told:find('bad name'))",
        )
        .await;
    });
}

#[test]
fn older_requests_answer_with_four_values() {
    alone(async {
        let (address, asked) = serve().await;
        run(
            World::new(),
            address,
            "local body, status, headers, why = net.http_get(url .. '/json')
             assert(body == '{\"a\":[1]}' and status == 200 and headers['Set-Cookie'][2] == 'b=2' and why == nil)
             local body, status = net.http_post(url .. '/x', 'text', { A = 'b' })
             assert(body == 'ok' and status == 200)",
        )
        .await;
        assert!(asked.borrow()[1].contains("a: b") && asked.borrow()[1].ends_with("text"));
    });
}

#[test]
fn a_download_is_there_when_all_of_it_is() {
    alone(async {
        let (address, _) = serve().await;
        let world = run(
            World::new(),
            address,
            "assert(net.download(url .. '/huge', 'huge') == nil)
             assert(fs.size('huge') == 80 * 1024 * 1024)
             fs.write('kept', 'as it was')
             for _, path in { '/short', '/missing' } do
               local why = net.download(url .. path, 'kept')
               assert(why and fs.read('kept') == 'as it was')
             end
             assert(net.download(url .. '/json', 'kept') == nil and fs.read('kept') == '{\"a\":[1]}')",
        )
        .await;
        assert_eq!(std::fs::read_dir(world.folder.path()).unwrap().count(), 2);
    });
}

#[test]
fn in_check_mode_nothing_is_sent_that_changes_something() {
    alone(async {
        let (address, asked) = serve().await;
        let world = run(
            World::checking(),
            address,
            "assert(http.get(url .. '/json').success)
             local r = http.post(url .. '/a', {})
             assert(r.success and r.status_code == 0)
             assert(http.delete(url .. '/a').success and net.http_post(url, 'x') == '')
             assert(net.download(url .. '/json', 'a') == nil)",
        )
        .await;
        assert_eq!(asked.borrow().len(), 1);
        assert_eq!(world.said().iter().filter(|line| line.starts_with("would ")).count(), 4);
        assert!(!world.path("a").exists());
    });
}

#[test]
fn the_proxy_of_the_step_is_used() {
    alone(async {
        let (address, asked) = serve().await;
        let world = World::new()
            .with("http_proxy", &format!("http://{address}"))
            .with("NO_PROXY", "127.0.0.1");
        run(
            world,
            address,
            "assert(http.get('http://nowhere.invalid/x').body == 'ok')
             assert(http.get(url .. '/direct').body == 'ok')",
        )
        .await;
        assert!(asked.borrow()[0].starts_with("GET http://nowhere.invalid/x "));
        assert!(asked.borrow()[1].starts_with("GET /direct "));
    });
}

#[test]
fn the_address_others_see_and_how_fast_they_are() {
    alone(async {
        let (address, _) = serve().await;
        run(
            World::new(),
            address,
            "assert(network.public_ip(url .. '/address') == '192.0.2.7')
             local none, why = network.public_ip(url .. '/json')
             assert(none == nil and why:find('address'))
             local r = network.bandwidth_test(url .. '/huge')
             assert(r.bytes >= 64 * 1024 * 1024 and r.mbps > 0)",
        )
        .await;
    });
}
