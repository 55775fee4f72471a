//! What nodes have, kept by the servers: `Hostler::Image`, a version of an image made from what a node has, and
//! `Hostler::NodeBackup`, a backup of paths of a node. Both are operations, which are waited for.

use hostler_model::{
    BackupStore, Diagnostic, Error, ImageId, ImageSource, NodeBackupSpec, NodeBackupState,
    OperationId, OperationState, Permission,
};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::read::Read;
use super::super::{Ctx, Given};
use super::hand::Hand;
use super::noun::{Found, Naming, Noun, Standing};
use super::{present, since};
use crate::NewNodeBackup;

/// A version has the id of the operation that made it.
pub(super) struct Image;

impl Image {
    fn source(properties: &Map<String, Value>) -> Result<ImageSource, Error> {
        let text =
            |name: &str| properties.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
        match (text("image"), text("container")) {
            (Some(image), None) => Ok(ImageSource::Image { image }),
            (None, Some(container)) => Ok(ImageSource::Container { container }),
            _ => {
                let problem = "give one of `image` and `container`";
                Err(Error::invalid(vec![Diagnostic::new("", problem)]))
            }
        }
    }

    async fn kept(hand: &Hand<'_>, at: &str) -> Result<Option<hostler_model::Image>, Error> {
        let Ok(id) = at.parse::<ImageId>() else { return Ok(None) };
        Ok(hand.control.store.read().await?.image_get(id).await?)
    }
}

impl Noun for Image {
    fn schema(&self) -> ResourceSchema {
        let about = "A version of an image that the installation keeps, made from what a node's engine has. Other properties are another \
                     version.";
        since("Hostler::Image", about)
            .property("name", PropertySchema::string("Of which image it is a version.").required())
            .property("node", PropertySchema::string("The node that has it.").required())
            .property("image", PropertySchema::string("An image of that node's engine."))
            .property(
                "container",
                PropertySchema::string("A container there, as it is now, instead of an image."),
            )
            .attribute("reference", AttributeSchema::new("As workloads say it.").of(Kind::String))
            .attribute("version", AttributeSchema::new("Its number.").of(Kind::Integer))
            .attribute("digest", AttributeSchema::new("Of its content.").of(Kind::String))
    }

    fn naming(&self, _: &Ctx<'_>) -> Naming {
        Naming::Keyed
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::ImageRead)?;
        if let Some(image) = Image::kept(hand, at).await? {
            let found = Found::new(at)
                .attribute("reference", image.reference())
                .attribute("version", image.version)
                .attribute("digest", image.digest.to_string());
            return Ok(Some(found));
        }
        let Ok(id) = at.parse::<OperationId>() else { return Ok(None) };
        let operation = present(hand.control.operation_get(&hand.plain(), id).await)?;
        let standing = match operation.map(|it| (it.state, it.error)) {
            Some((OperationState::Pending | OperationState::Running, _)) => Standing::Going,
            Some((OperationState::Failed | OperationState::Cancelled, error))
                if !super::is_removing(hand.ctx) =>
            {
                Standing::Broken(error.unwrap_or_else(|| "it was cancelled".to_owned()))
            }
            _ => return Ok(None),
        };
        Ok(Some(Found { standing, ..Found::new(at) }))
    }

    async fn make(&self, hand: &Hand<'_>, _: &str) -> Result<String, Error> {
        hand.need(Permission::ImageTake)?;
        let properties = &hand.ctx.wanted.properties;
        let text = |name: &str| properties.text(name).unwrap_or_default();
        let (cx, source) = (hand.cx("take"), Image::source(properties)?);
        let begun = hand.control.image_take(&cx, text("name"), text("node"), source).await?;
        Ok(begun.id.to_string())
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        if let Some(image) = Image::kept(hand, at).await? {
            hand.need(Permission::ImageRemove)?;
            let version = format!("{}:{}", image.name, image.version);
            return hand.control.image_remove(&hand.plain(), &version).await;
        }
        hand.need(Permission::OperationCancel)?;
        let Ok(id) = at.parse::<OperationId>() else { return Ok(()) };
        hand.control.operation_cancel(&hand.plain(), id).await.map(drop)
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        let is_given = |name: &str| given.properties.text(name).is_some_and(|it| !it.is_empty());
        match is_given("image") && is_given("container") {
            true => vec!["give one of `image` and `container`, and not both".to_owned()],
            false => Vec::new(),
        }
    }
}

pub(super) struct NodeBackup;

impl Noun for NodeBackup {
    fn schema(&self) -> ResourceSchema {
        let about = "A backup of paths of a node, made once. Other properties are another backup; removing forgets it.";
        since("Hostler::NodeBackup", about)
            .property("node", PropertySchema::string("The node.").required())
            .property(
                "paths",
                PropertySchema::list("What is kept.").required().length(Some(1), None),
            )
            .property(
                "exclude",
                PropertySchema::list("What is left out, as patterns.").default(json!([])),
            )
            .property(
                "cross_filesystems",
                PropertySchema::boolean("What is mounted below is kept too.").default(false),
            )
            .property("store", PropertySchema::string("Where it is kept.").default("server"))
            .property("label", PropertySchema::string("What it is called.").default(""))
            .property(
                "triggers",
                PropertySchema::any("Whatever it is: when it changes, another backup is made."),
            )
            .attribute("files", AttributeSchema::new("How many files are in it.").of(Kind::Integer))
            .attribute(
                "bytes",
                AttributeSchema::new("How large they are together.").of(Kind::Integer),
            )
    }

    fn naming(&self, _: &Ctx<'_>) -> Naming {
        Naming::Keyed
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::NodeBackup)?;
        let found = present(hand.control.node_backup_get(&hand.plain(), at).await)?;
        Ok(found.map(|it| {
            let standing = match it.state {
                NodeBackupState::Waiting | NodeBackupState::Running => Standing::Going,
                NodeBackupState::Complete => Standing::Ready,
                NodeBackupState::Failed => {
                    Standing::Broken(it.error.unwrap_or_else(|| "it has failed".to_owned()))
                }
            };
            let told = Found { standing, ..Found::new(it.id.to_string()) };
            match it.outcome {
                Some(outcome) => {
                    told.attribute("files", outcome.files).attribute("bytes", outcome.bytes.get())
                }
                None => told,
            }
        }))
    }

    async fn make(&self, hand: &Hand<'_>, _: &str) -> Result<String, Error> {
        hand.need(Permission::NodeBackup)?;
        let properties = &hand.ctx.wanted.properties;
        let texts = |name: &str| properties.texts(name).into_iter().map(str::to_owned).collect();
        let store = properties.text("store").unwrap_or_default();
        let store = store
            .parse::<BackupStore>()
            .map_err(|error| Error::invalid(vec![Diagnostic::new("/store", error.to_string())]))?;
        let new = NewNodeBackup {
            spec: NodeBackupSpec {
                paths: texts("paths"),
                exclude: texts("exclude"),
                cross_filesystems: properties.flag("cross_filesystems"),
            },
            store,
            label: properties.text("label").unwrap_or_default().to_owned(),
            keep: None,
        };
        let node = properties.text("node").unwrap_or_default();
        let made = Box::pin(hand.control.node_backup_create(&hand.cx("backup"), node, new)).await?;
        Ok(made.id.to_string())
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::NodeBackup)?;
        let plain = hand.plain();
        let known = hand.control.node_backup_get(&plain, at).await?;
        if known.state.is_settled() {
            return hand.control.node_backup_remove(&plain, at).await;
        }
        hand.need(Permission::OperationCancel)?;
        hand.control.operation_cancel(&plain, known.operation_id).await.map(drop)
    }
}
