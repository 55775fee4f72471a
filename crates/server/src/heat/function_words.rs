//! What each function of the template language is for, in a sentence. Two of them are compared by programs that test whether
//! something is Heat.

const WORDS: &[(&str, &str)] = &[
    ("get_param", "The value of a parameter, or what a path into it leads to."),
    ("get_resource", "What another resource is referred to by."),
    ("get_attr", "A function for resolving resource attributes."),
    ("get_file", "A function for including a file inline."),
    ("list_join", "The items of lists as one text, with a text between them."),
    ("str_replace", "A text in which words are replaced by values."),
    ("str_replace_strict", "The same; every word has to occur in the text."),
    ("str_replace_vstrict", "The same; every word has to occur, and no value may be empty."),
    ("resource_facade", "What the resource of the stack above says that this stack stands for."),
    ("repeat", "A list with a pattern filled in for every item, or every combination of items."),
    ("digest", "The hash of a text, by an algorithm that is named."),
    ("str_split", "The parts of a text between separators, or one of them."),
    ("map_merge", "Maps laid over each other; the last one counts."),
    ("map_replace", "A map whose keys and values are replaced by others."),
    ("yaql", "What an expression of the query language YAQL makes of data."),
    ("if", "One of two values, by a condition."),
    ("filter", "A list without some values."),
    ("make_url", "An address made of its parts."),
    ("list_concat", "Several lists as one."),
    ("list_concat_unique", "Several lists as one, each value once."),
    ("contains", "Whether a value is in a list or a text."),
    ("equals", "Whether two values are the same."),
    ("not", "Whether a condition does not hold."),
    ("and", "Whether all of several conditions hold."),
    ("or", "Whether one of several conditions holds."),
    ("Ref", "The value of a parameter, or what a resource is referred to by."),
    ("Fn::GetAtt", "An attribute of another resource."),
    ("Fn::FindInMap", "A value of the section Mappings, by two keys."),
    ("Fn::GetAZs", "The availability zones."),
    ("Fn::Join", "The items of a list as one text, with a text between them."),
    ("Fn::Split", "The parts of a text between separators."),
    ("Fn::Select", "One item of a list by its number, or of a map by its key."),
    ("Fn::Replace", "A text in which words are replaced by values."),
    ("Fn::Base64", "A text as it is; what needs it encoded does so itself."),
    ("Fn::MemberListToMap", "A map made of a list of texts such as `.member.0.Name=x`."),
    ("Fn::ResourceFacade", "What the resource of the stack above says that this stack stands for."),
    ("Fn::If", "One of two values, by a condition."),
    ("Fn::Equals", "Whether two values are the same."),
    ("Fn::Not", "Whether a condition does not hold."),
    ("Fn::And", "Whether all of several conditions hold."),
    ("Fn::Or", "Whether one of several conditions holds."),
];

/// Empty for what is no function.
pub(super) fn words(name: &str) -> &'static str {
    WORDS.iter().find(|(known, _)| *known == name).map(|(_, words)| *words).unwrap_or_default()
}
