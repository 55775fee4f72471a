//! Who goes when a group gets smaller.

use hostler_model::Timestamp;

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub is_failed: bool,
    /// It is as the group says now.
    pub is_current: bool,
    pub time_created: Timestamp,
}

/// Members, first those that go first: what failed, then the oldest, and of the same age the smaller name.
pub fn shrink_order(members: &[Member]) -> Vec<&Member> {
    let mut found: Vec<&Member> = members.iter().collect();
    found.sort_by_key(|member| (!member.is_failed, member.time_created, member.name.as_str()));
    found
}

/// Who goes so that no more than `size` are left.
pub fn leaving(members: &[Member], size: usize) -> Vec<&Member> {
    let mut found = shrink_order(members);
    found.truncate(members.len().saturating_sub(size));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_goes_first_and_then_the_oldest() {
        let member = |name: &str, at: i64, is_failed| Member {
            name: name.to_owned(),
            is_failed,
            is_current: true,
            time_created: Timestamp::from_micros(at),
        };
        let members = [
            member("new", 9, false),
            member("b", 1, false),
            member("a", 1, false),
            member("late", 20, true),
        ];
        let gone = |size| -> Vec<&str> {
            leaving(&members, size).iter().map(|member| member.name.as_str()).collect()
        };
        assert_eq!(gone(0), ["late", "a", "b", "new"]);
        assert_eq!(gone(2), ["late", "a"]);
        assert_eq!(gone(4), Vec::<&str>::new());
        assert_eq!(gone(9), Vec::<&str>::new());
    }
}
