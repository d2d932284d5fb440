//! Inspect's `.eval` files: a zip archive whose members are stored or compressed with zstd.

use serde_json::Value;

/// Whether the bytes are a zip archive.
#[must_use]
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// The model's name and the text of every sample, by file name.
pub(super) fn samples(bytes: &[u8]) -> Result<(Option<String>, Vec<String>), String> {
    let mut model = None;
    let mut samples = Vec::new();
    for (name, start) in members(bytes).ok_or("the archive's directory is broken")? {
        let sample = name.starts_with("samples/") && name.ends_with(".json");
        if !sample && name != "header.json" {
            continue;
        }
        let text = content(bytes, start).ok_or(format!("`{name}` cannot be unpacked"))?;
        if sample {
            samples.push((name, text));
        } else {
            let header: Value = serde_json::from_str(&super::without_nan(&text))
                .map_err(|error| format!("header.json: {error}"))?;
            model = header.pointer("/eval/model").and_then(Value::as_str).map(str::to_owned);
        }
    }
    samples.sort();
    Ok((model, samples.into_iter().map(|(_, text)| text).collect()))
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(part.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

/// Where a member begins, its method, its packed size.
type Packed = (usize, usize, usize);

/// Names and places of the central directory's records.
fn members(bytes: &[u8]) -> Option<Vec<(String, Packed)>> {
    let end = (0..=bytes.len().checked_sub(22)?)
        .rev()
        .take(70_000)
        .find(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(b"PK\x05\x06")))?;
    let count = number(bytes, end + 10, 2)?;
    let mut at = number(bytes, end + 16, 4)?;
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        if !bytes.get(at..)?.starts_with(b"PK\x01\x02") {
            return None;
        }
        let (method, size) = (number(bytes, at + 10, 2)?, number(bytes, at + 20, 4)?);
        let lengths = [28, 30, 32].map(|field| number(bytes, at + field, 2));
        let [Some(name), Some(extra), Some(comment)] = lengths else { return None };
        let start = number(bytes, at + 42, 4)?;
        let text = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned();
        found.push((text, (start, method, size)));
        at += 46 + name + extra + comment;
    }
    Some(found)
}

fn content(bytes: &[u8], (start, method, size): Packed) -> Option<String> {
    let (name, extra) = (number(bytes, start + 26, 2)?, number(bytes, start + 28, 2)?);
    let data = start + 30 + name + extra;
    let packed = bytes.get(data..data.checked_add(size)?)?;
    let plain = match method {
        0 => packed.to_vec(),
        93 => zstd::decode_all(packed).ok()?,
        _ => return None,
    };
    String::from_utf8(plain).ok()
}
