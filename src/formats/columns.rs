//! Rows as zstd Parquet: flat columns without nulls, nested values as JSON in columns `…_json`.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{
    Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel,
};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::types::Type;
use serde_json::{Map, Value};

/// Sort of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A truth value.
    Truth,
    /// A list or object, as JSON.
    Nested,
}

/// A column: its name in JSON and its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the key in the row.
    pub key: String,
    /// Its kind.
    pub kind: Kind,
}

impl Column {
    /// Its name in Parquet.
    #[must_use]
    pub fn name(&self) -> String {
        if self.kind == Kind::Nested { format!("{}_json", self.key) } else { self.key.clone() }
    }
}

/// The columns of some records, which all have the same keys.
#[must_use]
pub fn columns(record: &Map<String, Value>) -> Vec<Column> {
    let kind = |value: &Value| match value {
        Value::Number(_) => Kind::Integer,
        Value::Bool(_) => Kind::Truth,
        Value::String(_) | Value::Null => Kind::Text,
        Value::Array(_) | Value::Object(_) => Kind::Nested,
    };
    record.iter().map(|(key, value)| Column { key: key.clone(), kind: kind(value) }).collect()
}

/// The Parquet file of some records.
///
/// # Errors
/// A record without one of the columns, or what the library says.
pub fn parquet(records: &[Map<String, Value>]) -> Result<Vec<u8>, ParquetError> {
    let columns = records.first().map(columns).unwrap_or_default();
    let mut fields = Vec::with_capacity(columns.len());
    for column in &columns {
        let name = column.name();
        let (physical, converted, logical) = match column.kind {
            Kind::Text | Kind::Nested => {
                (Physical::BYTE_ARRAY, ConvertedType::UTF8, Some(LogicalType::String))
            }
            Kind::Integer => (Physical::INT64, ConvertedType::NONE, None),
            Kind::Truth => (Physical::BOOLEAN, ConvertedType::NONE, None),
        };
        let field = Type::primitive_type_builder(&name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(converted)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
    }
    let schema = Arc::new(Type::group_type_builder("row").with_fields(fields).build()?);
    let level = ZstdLevel::try_new(9)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by("deogen".to_owned())
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in &columns {
        let missing = || ParquetError::General(format!("a row without `{}`", column.key));
        let value = |record: &Map<String, Value>| record.get(&column.key).cloned();
        let values: Option<Vec<Value>> = records.iter().map(value).collect();
        let values = values.ok_or_else(missing)?;
        let Some(mut open) = group.next_column()? else { return Err(missing()) };
        match open.untyped() {
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let texts: Vec<ByteArray> =
                    values.iter().map(|value| text(value).into_bytes().into()).collect();
                writer.write_batch(&texts, None, None)?;
            }
            ColumnWriter::Int64ColumnWriter(writer) => {
                let numbers: Option<Vec<i64>> = values.iter().map(Value::as_i64).collect();
                writer.write_batch(&numbers.ok_or_else(missing)?, None, None)?;
            }
            ColumnWriter::BoolColumnWriter(writer) => {
                let truths: Option<Vec<bool>> = values.iter().map(Value::as_bool).collect();
                writer.write_batch(&truths.ok_or_else(missing)?, None, None)?;
            }
            _ => return Err(missing()),
        }
        open.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The records of a Parquet file that [`parquet`] wrote, nested values read back.
///
/// # Errors
/// What the library says.
pub fn records(file: File) -> Result<Vec<Map<String, Value>>, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let mut found = Vec::new();
    for row in reader.get_row_iter(None)? {
        let mut record = Map::new();
        for (name, field) in row?.get_column_iter() {
            let value = match (field, name.strip_suffix("_json")) {
                (Field::Str(text), Some(key)) => {
                    let value = serde_json::from_str(text).unwrap_or(Value::Null);
                    record.insert(key.to_owned(), value);
                    continue;
                }
                (Field::Str(text), None) => Value::String(text.clone()),
                (Field::Long(number), _) => Value::from(*number),
                (Field::Bool(truth), _) => Value::Bool(*truth),
                _ => Value::Null,
            };
            record.insert(name.clone(), value);
        }
        found.push(record);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let record = |id: &str| {
            let value = serde_json::json!({
                "id": id, "n": -1, "whole": true, "list": ["§1", "ü"], "object": {"a": 1},
            });
            value.as_object().unwrap().clone()
        };
        let all = vec![record("a"), record("b")];
        let bytes = parquet(&all).unwrap();
        assert_eq!(bytes, parquet(&all).unwrap());
        let kept = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            std::io::Write::write_all(&mut file, bytes).unwrap();
            file
        };
        assert_eq!(records(kept(&bytes)).unwrap(), all);
        let names: Vec<String> = columns(&all[0]).iter().map(Column::name).collect();
        assert_eq!(names, ["id", "n", "whole", "list_json", "object_json"]);
        assert!(records(kept(&bytes[..bytes.len() - 9])).is_err());
    }
}
