import Foundation

/// What Core Data's descriptions of models and requests print, for logs and debuggers: lists in round brackets and
/// dictionaries in braces, an element a line, `(null)` for no value, and texts that are more than letters and digits
/// in quotation marks.
package enum DescriptionText {
    /// A class and an address.
    package static func head(of object: AnyObject) -> String {
        "<\(className(of: object)): 0x\(String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16))>"
    }

    /// The class's name without its module and its type parameters.
    private static func className(of object: AnyObject) -> String {
        String("\(type(of: object))".prefix { $0 != "<" })
    }

    static func value(_ value: Any?) -> String {
        switch value {
        case nil: "(null)"
        case let value as Bool: value ? "1" : "0"
        case let value?: "\(value)"
        }
    }

    static func list(_ elements: [String]) -> String {
        elements.isEmpty ? "(\n)" : "(\n    " + elements.joined(separator: ",\n    ") + "\n)"
    }

    static func dictionary(_ entries: [(key: String, value: String)]) -> String {
        let lines = entries.sorted { $0.key < $1.key }.map { "    \(quoted($0.key)) = \(quoted($0.value));\n" }
        return "{\n\(lines.joined())}"
    }

    static func dictionary(_ values: [AnyHashable: Any]?) -> String {
        dictionary((values ?? [:]).map { (key: "\($0.key.base)", value: value($0.value)) })
    }

    /// A text as an element of a list or a dictionary.
    package static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 < 128 && isLetterOrDigit($0) }
        guard !isPlain else { return text }
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\n": escaped += "\\n"
            case "\"", "\\": escaped += "\\\(character)"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return "\"\(escaped)\""
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

extension NSPropertyDescription {
    /// The part of the description that every property has.
    var describedProperty: String {
        "(\(DescriptionText.head(of: self))), name \(name), isOptional \(DescriptionText.value(isOptional)), "
            + "isTransient \(DescriptionText.value(isTransient)), entity \(DescriptionText.value(entity.name)), "
            + "renamingIdentifier \(DescriptionText.value(renamingIdentifier)), "
            + "validation predicates \(DescriptionText.list(validationPredicates.map(\.description))), "
            + "warnings \(DescriptionText.list(validationWarnings.map { DescriptionText.quoted("\($0)") })), "
            + "versionHashModifier \(DescriptionText.value(versionHashModifier))\n "
            + "userInfo \(DescriptionText.dictionary(userInfo))"
    }
}

extension NSAttributeDescription {
    var describedAttribute: String {
        "\(describedProperty), attributeType \(attributeType.rawValue) , "
            + "attributeValueClassName \(DescriptionText.value(attributeValueClassName)), "
            + "defaultValue \(DescriptionText.value(defaultValue)), "
            + "preservesValueInHistoryOnDeletion \(preservesValueInHistoryOnDeletion ? "YES" : "NO")"
    }
}

extension NSEntityDescription {
    var describedEntity: String {
        let constraints = uniquenessConstraints.map { constraint in
            DescriptionText.quoted(
                constraint.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }.joined(separator: ","))
        }
        return "(\(DescriptionText.head(of: self))) name \(DescriptionText.value(name)), "
            + "managedObjectClassName \(DescriptionText.value(managedObjectClassName)), "
            + "renamingIdentifier \(DescriptionText.value(renamingIdentifier)), "
            + "isAbstract \(DescriptionText.value(isAbstract)), "
            + "superentity name \(DescriptionText.value(superentity?.name)), "
            + "properties \(DescriptionText.dictionary(properties.map { (key: $0.name, value: $0.description) })), "
            + "subentities \(DescriptionText.dictionary(subentities.map { (key: $0.name ?? "", value: $0.description) })), "
            + "userInfo \(DescriptionText.dictionary(userInfo)), "
            + "versionHashModifier \(DescriptionText.value(versionHashModifier)), "
            + "uniquenessConstraints \(DescriptionText.list(constraints))"
    }
}

extension NSManagedObjectModel {
    /// The model with a text for each entity.
    func described(entity text: (NSEntityDescription) -> String) -> String {
        let entities = entities.map { (key: $0.name ?? "", value: text($0)) }
        let templates = templates.map { (key: $0.key, value: $0.value.description) }
        return "(\(DescriptionText.head(of: self))) isEditable \(DescriptionText.value(!isFrozen)), "
            + "entities \(DescriptionText.dictionary(entities)), "
            + "fetch request templates \(DescriptionText.dictionary(templates))"
    }
}
