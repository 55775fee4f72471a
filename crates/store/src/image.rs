//! Versions of images. A number is given when a version is entered and never again, also when the version
//! has gone, so that what somebody wrote down means one thing or nothing.

use hostler_model::{Digest, Image, ImageId, ImagePick, ImageRef, Limit, Name, Page};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "id, name, version, digest, size, origin, created_by, time_created"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM image");

fn decode(row: &Row) -> Result<Image, Error> {
    let mut columns = row.columns("image");
    Ok(Image {
        id: columns.parse()?,
        name: columns.parse()?,
        version: columns.small()?,
        digest: columns.digest()?,
        size: hostler_model::Bytes::new(columns.number()?),
        origin: columns.text()?,
        created_by: columns.json()?,
        time_created: columns.time()?,
    })
}

fn cursor(image: &Image) -> String {
    format!("{}:{}", image.name, image.version)
}

impl Conn {
    pub async fn image_get(&mut self, id: ImageId) -> Result<Option<Image>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM image WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// The version that is meant; the newest where several have the content.
    pub async fn image_find(&mut self, reference: &ImageRef) -> Result<Option<Image>, Error> {
        let select = Select::new(SELECT).and_value("name =", &reference.name);
        let select = match reference.pick {
            ImagePick::Newest => select,
            ImagePick::Version(version) => select.and_value("version =", version),
            ImagePick::Content(digest) => select.and_value("digest =", digest),
        };
        let (sql, params) = select.first("version DESC", 1);
        self.query_one(sql, params).await?.as_ref().map(decode).transpose()
    }

    /// By name and number; an unknown cursor begins anew.
    pub async fn image_list(
        &mut self,
        name: Option<&Name>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Image>, Error> {
        let mut select = Select::new(SELECT).and_some("name =", name);
        if let Some((name, version)) = after.and_then(|after| after.split_once(':'))
            && let Ok(version) = version.parse::<u32>()
        {
            select = select.and_pair("(name, version) >", name, version);
        }
        let (sql, params) = select.page("name, version", limit);
        let rows = self.query(sql, params).await?;
        let images = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(images, limit, cursor))
    }

    /// Whether any version has this content.
    pub async fn image_has_content(&mut self, digest: Digest) -> Result<bool, Error> {
        let found = self
            .query_one("SELECT 1 FROM image WHERE digest = $1 LIMIT 1", params![digest])
            .await?;
        Ok(found.is_some())
    }
}

impl Tx<'_> {
    /// Enters a version with the next number of its name; as it was entered. Where the id is there
    /// already, nothing is done.
    pub async fn image_insert(&mut self, image: &Image) -> Result<Image, Error> {
        if let Some(before) = self.image_get(image.id).await? {
            return Ok(before);
        }
        let row = self
            .query_one(
                "INSERT INTO image_name (name, version_last) VALUES ($1, 1) ON CONFLICT (name) DO UPDATE SET version_last = image_name.version_last + 1 RETURNING version_last",
                params![&image.name],
            )
            .await?;
        let version = match row {
            Some(row) => row.columns("image_name").small()?,
            None => 1,
        };
        let image = Image { version, ..image.clone() };
        self.execute(
            concat!("INSERT INTO image (", columns!(), ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"),
            params![
                image.id,
                &image.name,
                image.version,
                image.digest,
                image.size,
                &image.origin,
                Value::json(&image.created_by),
                image.time_created
            ],
        )
        .await?;
        Ok(image)
    }

    /// False when there is none.
    pub async fn image_delete(&mut self, id: ImageId) -> Result<bool, Error> {
        let rows = self.execute("DELETE FROM image WHERE id = $1", params![id]).await?;
        Ok(rows > 0)
    }
}
