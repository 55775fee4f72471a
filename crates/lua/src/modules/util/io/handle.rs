//! What a file or a program is to Lua.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Cursor, Empty, Seek, SeekFrom, Write};
use std::os::unix::fs::FileTypeExt;
use std::rc::Rc;

use mlua::{AnyUserData, Function, Lua, MetaMethod, MultiValue, Result, UserData, Value, Variadic};

use super::read::{Format, Piece};
use crate::modules::util::fs::{temporary, told};
use crate::modules::util::given::{Text, amount, place, would};
use crate::modules::util::os::manner;
use crate::modules::{Ended, Order, Stream, acting};
use crate::stage::{Scene, Stage};

/// A handle; what is behind it goes when it is closed.
pub(super) struct Handle(RefCell<Behind>);

enum Behind {
    File(BufReader<File>),
    /// What a program printed, and how it ended.
    Program {
        printed: Cursor<Vec<u8>>,
        ended: Ending,
    },
    /// A program that is to be run with what was written.
    Feed {
        order: Box<Order>,
        line: String,
        written: Vec<u8>,
    },
    Words(Stream),
    NoInput(Empty),
    /// What would be written, in check mode.
    Nowhere,
    Closed,
}

/// How a program ended: by itself or by a signal, and with what code.
#[derive(Clone, Copy)]
struct Ending(&'static str, i32);

impl Ending {
    fn of(ended: &Ended) -> Ending {
        Ending(manner(ended), ended.code())
    }
    fn values(self, lua: &Lua) -> Result<MultiValue> {
        let is_fine = if self.1 == 0 { Value::Boolean(true) } else { Value::Nil };
        let how = Value::String(lua.create_string(self.0)?);
        Ok(MultiValue::from_iter([is_fine, how, Value::Integer(self.1.into())]))
    }
}

impl Handle {
    fn new(behind: Behind) -> Handle {
        Handle(RefCell::new(behind))
    }
    pub fn input() -> Handle {
        Handle::new(Behind::NoInput(std::io::empty()))
    }
    pub fn out() -> Handle {
        Handle::new(Behind::Words(Stream::Out))
    }
    pub fn error() -> Handle {
        Handle::new(Behind::Words(Stream::Error))
    }

    pub fn is_closed(&self) -> bool {
        matches!(*self.0.borrow(), Behind::Closed)
    }

    pub fn open(path: &Text, mode: &str) -> std::result::Result<Handle, String> {
        let path = place(path)?;
        let mut options = OpenOptions::new();
        let changes = match mode.replace('b', "").as_str() {
            "r" => {
                options.read(true);
                None
            }
            "r+" => {
                options.read(true).write(true);
                Some("change")
            }
            "w" | "w+" => {
                options.read(mode.contains('+')).write(true).create(true).truncate(true);
                Some("write")
            }
            "a" | "a+" => {
                options.read(mode.contains('+')).append(true).create(true);
                Some("append to")
            }
            _ => {
                return Err(format!(
                    "there is no mode `{mode}`; use \"r\", \"w\" or \"a\", with \"+\" for both ways"
                ));
            }
        };
        let is_pipe = std::fs::metadata(&path).is_ok_and(|known| known.file_type().is_fifo());
        if is_pipe {
            return Err(format!(
                "{} is a named pipe, which would stop every step; use exec.run",
                path.display()
            ));
        }
        if let Some(change) = changes
            && would(|| format!("{change} {}", path.display()))
        {
            return Ok(Handle::new(Behind::Nowhere));
        }
        let file = options.open(&path).map_err(told("open", &path))?;
        Ok(Handle::new(Behind::File(BufReader::new(file))))
    }

    pub fn temporary() -> std::result::Result<Handle, String> {
        let path = temporary("lua_")?;
        if acting().check {
            return Ok(Handle::new(Behind::Nowhere));
        }
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        let removed = std::fs::remove_file(&path);
        let file = opened.and_then(|file| removed.map(|()| file));
        let file = file.map_err(told("open", path.as_ref()))?;
        Ok(Handle::new(Behind::File(BufReader::new(file))))
    }

    /// Runs a program to its end.
    pub async fn program(mut order: Order, line: &str) -> std::result::Result<Handle, String> {
        if would(|| format!("run: {line}")) {
            let printed = Cursor::new(Vec::new());
            return Ok(Handle::new(Behind::Program { printed, ended: Ending("exit", 0) }));
        }
        order.echo = Some(Rc::new(OnlyErrors(acting())));
        let ended =
            order.run().await.map_err(|error| format!("it could not be started: {error}"))?;
        let ending = Ending::of(&ended);
        Ok(Handle::new(Behind::Program { printed: Cursor::new(ended.stdout), ended: ending }))
    }

    pub fn feed(order: Order, line: String) -> Handle {
        Handle::new(Behind::Feed { order: Box::new(order), line, written: Vec::new() })
    }
}

/// Lets what a program complains about through; the rest is read by the step.
struct OnlyErrors(Rc<crate::modules::Acting>);

impl crate::modules::Sink for OnlyErrors {
    fn say(&self, stream: Stream, text: &str) {
        if stream == Stream::Error {
            self.0.complain(text);
        }
    }
}

impl Behind {
    fn reader(&mut self) -> std::result::Result<&mut dyn BufRead, String> {
        match self {
            Behind::File(file) => Ok(file),
            Behind::Program { printed, .. } => Ok(printed),
            Behind::NoInput(empty) => Ok(empty),
            Behind::Closed => Err("the file is closed".to_owned()),
            Behind::Feed { .. } | Behind::Words(_) | Behind::Nowhere => {
                Err("it can only be written to".to_owned())
            }
        }
    }

    fn write(&mut self, lua: &Lua, bytes: &[u8]) -> std::result::Result<(), String> {
        let told = |error: std::io::Error| format!("cannot write: {error}");
        match self {
            Behind::File(file) => {
                // What was read ahead is given back, so that reading and writing go on at the same place.
                file.stream_position()
                    .and_then(|here| file.seek(SeekFrom::Start(here)))
                    .and_then(|_| file.get_mut().write_all(bytes))
                    .map_err(told)
            }
            Behind::Feed { written, .. } => {
                written.extend_from_slice(bytes);
                Ok(())
            }
            Behind::Words(stream) => {
                if Scene::of(lua).stage.get() == Stage::Acting {
                    let text = String::from_utf8_lossy(bytes);
                    let text = text.strip_suffix('\n').unwrap_or(&text);
                    text.split('\n').for_each(|line| acting().sink.say(*stream, line));
                }
                Ok(())
            }
            Behind::Nowhere => Ok(()),
            Behind::Closed => Err("the file is closed".to_owned()),
            Behind::Program { .. } | Behind::NoInput(_) => {
                Err("it can only be read from".to_owned())
            }
        }
    }

    fn seek(&mut self, to: SeekFrom) -> std::result::Result<u64, String> {
        let moved = match self {
            Behind::File(file) => file.seek(to),
            Behind::Nowhere => Ok(0),
            Behind::Closed => return Err("the file is closed".to_owned()),
            _ => return Err("only files have places to go to".to_owned()),
        };
        moved.map_err(|error| format!("cannot seek: {error}"))
    }
}

/// `nil` and why.
fn refusal(lua: &Lua, why: &str) -> Result<MultiValue> {
    Ok(MultiValue::from_iter([Value::Nil, Value::String(lua.create_string(why)?)]))
}

fn formats(given: &MultiValue) -> Result<Vec<Format>> {
    if given.is_empty() {
        return Ok(vec![Format::Line { with_end: false }]);
    }
    let bad = |shown: &str| {
        mlua::Error::runtime(format!(
            "file:read does not know the format `{shown}`; use \"*l\", \"*L\", \"*n\", \"*a\" or a number of bytes"
        ))
    };
    given
        .iter()
        .map(|value| match value {
            Value::String(name) => {
                let name = name.to_string_lossy();
                Format::named(&name).ok_or_else(|| bad(&name))
            }
            value => match value.as_usize() {
                Some(bytes) => Ok(Format::Bytes(bytes)),
                None => Err(bad(&value.to_string()?)),
            },
        })
        .collect()
}

fn pieces(lua: &Lua, behind: &mut Behind, formats: &[Format]) -> Result<MultiValue> {
    let reader = match behind.reader() {
        Ok(reader) => reader,
        Err(why) => return refusal(lua, &why),
    };
    let mut values = MultiValue::new();
    for format in formats {
        match format.read(reader) {
            Ok(Piece::Text(bytes)) => {
                values.push_back(Value::String(lua.create_string(bytes)?));
            }
            Ok(Piece::Number(number)) => values.push_back(Value::Number(number)),
            Ok(Piece::Nothing) => {
                values.push_back(Value::Nil);
                break;
            }
            Err(error) => return refusal(lua, &format!("cannot read: {error}")),
        }
    }
    Ok(values)
}

pub(super) fn read(lua: &Lua, file: &AnyUserData, given: &MultiValue) -> Result<MultiValue> {
    let formats = formats(given)?;
    pieces(lua, &mut file.borrow::<Handle>()?.0.borrow_mut(), &formats)
}

pub(super) fn write(lua: &Lua, file: &AnyUserData, texts: &[Text]) -> Result<MultiValue> {
    let all: Vec<u8> = texts.iter().flat_map(|text| &text.0).copied().collect();
    let written = file.borrow::<Handle>()?.0.borrow_mut().write(lua, &all);
    match written {
        Ok(()) => Ok(MultiValue::from_iter([Value::UserData(file.clone())])),
        Err(why) => refusal(lua, &why),
    }
}

/// A function that gives the next line each time.
pub(super) fn lines(
    lua: &Lua,
    file: AnyUserData,
    given: MultiValue,
    is_ours: bool,
) -> Result<Function> {
    let formats = formats(&given)?;
    lua.create_function(move |lua, ()| {
        let handle = file.borrow::<Handle>()?;
        let mut behind = handle.0.borrow_mut();
        if matches!(*behind, Behind::Closed) {
            if is_ours {
                return Ok(MultiValue::from_iter([Value::Nil]));
            }
            return Err(mlua::Error::runtime("the file is closed"));
        }
        let values = pieces(lua, &mut behind, &formats)?;
        let is_end = values.front().is_none_or(Value::is_nil);
        if let (true, Some(Value::String(why))) = (is_end, values.get(1)) {
            return Err(mlua::Error::runtime(why.to_string_lossy()));
        }
        if is_end && is_ours {
            *behind = Behind::Closed;
        }
        Ok(values)
    })
}

pub(super) async fn close(lua: &Lua, file: &AnyUserData) -> Result<MultiValue> {
    let behind = {
        let handle = file.borrow::<Handle>()?;
        let mut behind = handle.0.borrow_mut();
        match *behind {
            Behind::Words(_) | Behind::NoInput(_) => {
                return refusal(lua, "the streams of a step stay open");
            }
            _ => std::mem::replace(&mut *behind, Behind::Closed),
        }
    };
    match behind {
        Behind::Closed => Err(mlua::Error::runtime("the file is closed already")),
        Behind::Program { ended, .. } => ended.values(lua),
        Behind::Feed { mut order, line, written } => {
            if would(|| format!("run: {line}")) {
                return Ending("exit", 0).values(lua);
            }
            order.input = Some(written);
            order.echo = Some(Rc::clone(&acting().sink));
            match order.run().await {
                Ok(ended) => Ending::of(&ended).values(lua),
                Err(error) => refusal(lua, &format!("it could not be started: {error}")),
            }
        }
        _ => Ok(MultiValue::from_iter([Value::Boolean(true)])),
    }
}

fn seek(whence: Option<&str>, offset: Option<i64>) -> Result<SeekFrom> {
    let offset = offset.unwrap_or(0);
    match whence.unwrap_or("cur") {
        "set" => Ok(SeekFrom::Start(u64::try_from(offset).unwrap_or(0))),
        "cur" => Ok(SeekFrom::Current(offset)),
        "end" => Ok(SeekFrom::End(offset)),
        other => Err(mlua::Error::runtime(format!(
            "file:seek does not know `{other}`; use \"set\", \"cur\" or \"end\""
        ))),
    }
}

impl UserData for Handle {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        methods.add_function("read", |lua, (file, given): (AnyUserData, MultiValue)| {
            read(lua, &file, &given)
        });
        methods.add_function("write", |lua, (file, texts): (AnyUserData, Variadic<Text>)| {
            write(lua, &file, &texts)
        });
        methods.add_function("lines", |lua, (file, given): (AnyUserData, MultiValue)| {
            lines(lua, file, given, false)
        });
        methods.add_method(
            "seek",
            |lua, handle, (whence, offset): (Option<String>, Option<i64>)| {
                let to = seek(whence.as_deref(), offset)?;
                match handle.0.borrow_mut().seek(to) {
                    Ok(position) => Ok(MultiValue::from_iter([Value::Number(amount(position))])),
                    Err(why) => refusal(lua, &why),
                }
            },
        );
        for name in ["flush", "setvbuf"] {
            methods.add_method(name, |_, _, _: MultiValue| Ok(true));
        }
        methods.add_async_function("close", |lua, file: AnyUserData| async move {
            close(&lua, &file).await
        });
        methods.add_meta_method(MetaMethod::ToString, |_, handle, ()| {
            Ok(if handle.is_closed() { "file (closed)" } else { "file" })
        });
    }
}
