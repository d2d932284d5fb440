//! Names by content: BLAKE3 digests of a length-prefixed canonical encoding.
//!
//! A key and its explanation come from one walk (after n2's `hash.rs`): [`Fields`] is a list of
//! named parts which is hashed as it stands, stored beside the result, and compared part by part
//! when somebody asks why a stage ran again.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A BLAKE3 digest, written `b3:<64 hex digits>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The raw bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hex digits alone.
    #[must_use]
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Reads `b3:<hex>` or bare hex digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("b3:").unwrap_or(text);
        blake3::Hash::from_hex(hex).ok().map(|hash| Self(*hash.as_bytes()))
    }

    /// The first eight bytes as a number: a rank that content alone decides.
    #[must_use]
    pub fn rank(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b3:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a BLAKE3 digest"))
    }
}

/// Length-prefixed encoding: no two different sequences of parts give the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// An empty encoding.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one part.
    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(part);
        self
    }

    /// Adds a text.
    pub fn text(&mut self, part: &str) -> &mut Self {
        self.bytes(part.as_bytes())
    }

    /// Adds a number.
    pub fn number(&mut self, part: u64) -> &mut Self {
        self.bytes(&part.to_le_bytes())
    }

    /// Adds a digest.
    pub fn digest(&mut self, part: &Digest) -> &mut Self {
        self.bytes(part.bytes())
    }

    /// The digest of all parts.
    #[must_use]
    pub fn finish(&self) -> Digest {
        Digest::of(&self.bytes)
    }

    /// The digest of all parts under a 32-byte key: seeds and salts.
    #[must_use]
    pub fn finish_keyed(&self, key: &[u8; 32]) -> Digest {
        Digest(*blake3::keyed_hash(key, &self.bytes).as_bytes())
    }
}

/// The named parts of a key: hashed in order, kept for explanation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields(Vec<(String, String)>);

/// One difference between two keys of the same stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Name of the part.
    pub field: String,
    /// Its value then, if it existed.
    pub old: Option<String>,
    /// Its value now, if it still exists.
    pub new: Option<String>,
}

impl Fields {
    /// No parts yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a named part.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// The parts in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of one part.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// The key: every name and value, length-prefixed.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut encoder = Encoder::new();
        for (name, value) in &self.0 {
            encoder.text(name).text(value);
        }
        encoder.finish()
    }

    /// What differs from an older key, in this key's order, then what is gone.
    #[must_use]
    pub fn moved_since(&self, old: &Self) -> Vec<Moved> {
        let mut moved: Vec<Moved> = Vec::new();
        for (name, value) in self.iter() {
            let before = old.get(name);
            if before != Some(value) {
                moved.push(Moved {
                    field: name.to_owned(),
                    old: before.map(str::to_owned),
                    new: Some(value.to_owned()),
                });
            }
        }
        for (name, value) in old.iter().filter(|(name, _)| self.get(name).is_none()) {
            moved.push(Moved { field: name.to_owned(), old: Some(value.to_owned()), new: None });
        }
        moved
    }
}

/// Names made of lower-case base 32 without padding (`a-z2-7`): short, and safe in any file name.
#[must_use]
pub fn base32(bytes: &[u8], letters: usize) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = String::with_capacity(letters);
    let mut buffer = 0_u32;
    let mut bits = 0_u32;
    for byte in bytes {
        buffer = (buffer << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 && text.len() < letters {
            bits -= 5;
            let index = (buffer >> bits) & 31;
            text.push(char::from(*ALPHABET.get(index as usize).unwrap_or(&b'a')));
            buffer &= (1 << bits) - 1;
        }
    }
    text
}
