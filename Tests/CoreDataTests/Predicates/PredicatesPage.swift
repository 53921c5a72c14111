import CoreData
import PredicateOperators

// The Swift forms of `Documentation/Predicates.md`: as the page spells them, and as the compiler reads them.

final class Category {
    var name: String?
    var parent: Category?
}

struct Review {
    var stars = 0
    var text: String?
}

struct Tag {
    var name: String?
}

struct Product {
    var name: String?
    var price: Double?
    var stock: Int?
    var added: Date?
    var category: Category?
    var reviews: [Review] = []
    var tags: [Tag] = []
}

/// The Swift forms by their text.
func swiftForms() -> [String: NSPredicate] {
    var forms: [String: NSPredicate] = [:]
    forms[#"\Product.stock == 3"#] = \Product.stock == 3
    forms[#"\Product.stock != 3"#] = \Product.stock != 3
    forms[#"\Product.stock < 3"#] = \Product.stock < 3
    forms[#"\Product.stock <= 3"#] = \Product.stock <= 3
    forms[#"\Product.stock > 3"#] = \Product.stock > 3
    forms[#"\Product.stock >= 3"#] = \Product.stock >= 3
    forms[#"\Product.stock == nil"#] = \Product.stock == nil
    forms[#"(\Product.stock).isNotNil"#] = (\Product.stock).isNotNil
    forms[#"(\Product.stock).between(1, 9)"#] = (\Product.stock).between(1, 9)
    forms[#"(\Product.stock).in([1, 2])"#] = (\Product.stock).in([1, 2])
    forms[#"(\Product.stock).in(1..<9)"#] = (\Product.stock).in(1..<9)
    forms[#"\Product.name == KeyPathExpression(\Product.category?.name)"#] =
        \Product.name == KeyPathExpression(\Product.category?.name)
    forms[#"\Product.name != KeyPathExpression(\Product.category?.name)"#] =
        \Product.name != KeyPathExpression(\Product.category?.name)
    forms[#"\Product.stock > 3 && \Product.name == "a""#] = \Product.stock > 3 && \Product.name == "a"
    forms[#"\Product.stock > 3 || \Product.name == "a""#] = \Product.stock > 3 || \Product.name == "a"
    forms[#"!(\Product.stock > 3)"#] = !(\Product.stock > 3)
    forms[#"(\Product.name).beginsWith("a")"#] = (\Product.name).beginsWith("a")
    forms[#"(\Product.name).beginsWith("a", options: [.caseInsensitive, .diacriticInsensitive])"#] = (\Product.name)
        .beginsWith("a", options: [.caseInsensitive, .diacriticInsensitive])
    forms[#"(\Product.name).endsWith("a")"#] = (\Product.name).endsWith("a")
    forms[#"(\Product.name).contains("a", options: .caseInsensitive)"#] = (\Product.name).contains(
        "a", options: .caseInsensitive)
    forms[#"(\Product.name).like("a?b*")"#] = (\Product.name).like("a?b*")
    forms[#"(\Product.name).matches("[a-z]+")"#] = (\Product.name).matches("[a-z]+")
    forms[#"(\Product.name).equals("a", options: .caseInsensitive)"#] = (\Product.name).equals(
        "a", options: .caseInsensitive)
    forms[#"(\Product.name).in(["a", "b"], options: .caseInsensitive)"#] = (\Product.name).in(
        ["a", "b"], options: .caseInsensitive)
    forms[#"(\Product.name).equals("a", options: .normalized)"#] = (\Product.name).equals("a", options: .normalized)
    forms[#"(\Product.name).equals("a", options: .localeSensitive)"#] = (\Product.name).equals(
        "a", options: .localeSensitive)
    forms[#"\Product.category?.name == "a""#] = \Product.category?.name == "a"
    forms[#"\Product.category?.parent?.name == "a""#] = \Product.category?.parent?.name == "a"
    forms[#"(\Product.category).isNil"#] = (\Product.category).isNil
    forms[#"(\Product.reviews).any(\.stars) > 3"#] = (\Product.reviews).any(\.stars) > 3
    forms[#"(\Product.reviews).all(\.stars) > 3"#] = (\Product.reviews).all(\.stars) > 3
    forms[#"(\Product.reviews).none(\.stars) > 3"#] = (\Product.reviews).none(\.stars) > 3
    forms[#"(\Product.tags).any(\.name).in(["a", "b"])"#] = (\Product.tags).any(\.name).in(["a", "b"])
    forms[#"(\Product.reviews).isNil"#] = (\Product.reviews).isNil
    forms[#"(\Product.reviews).count > 2"#] = (\Product.reviews).count > 2
    forms[#"(\Product.reviews).sum(\.stars) == 0"#] = (\Product.reviews).sum(\.stars) == 0
    forms[#"(\Product.reviews).average(\.stars) >= 4"#] = (\Product.reviews).average(\.stars) >= 4
    forms[#"(\Product.reviews).min(\.stars) == 1"#] = (\Product.reviews).min(\.stars) == 1
    forms[#"(\Product.reviews).max(\.stars) == 5"#] = (\Product.reviews).max(\.stars) == 5
    forms[#"(\Product.reviews).filter(\Review.stars > 3 && \Review.text != nil).count > 1"#] =
        (\Product.reviews).filter(\Review.stars > 3 && \Review.text != nil).count > 1
    return forms
}
