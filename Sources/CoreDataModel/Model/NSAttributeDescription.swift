import Foundation

/// An attribute of an entity: a property with a value of one of Core Data's types.
open class NSAttributeDescription: NSPropertyDescription {
    /// The type of the value.
    open var attributeType: NSAttributeType = .undefinedAttributeType { willSet { willChangeDescription() } }

    /// The type of the value, with Swift's names.
    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The name of the value's class: set for transformable attributes, derived from the type otherwise.
    open var attributeValueClassName: String? {
        get { storedValueClassName ?? attributeType.valueClassName }
        set {
            willChangeDescription()
            storedValueClassName = newValue
        }
    }

    /// The class name that was set; `nil` if the type determines it.
    package private(set) var storedValueClassName: String?

    /// The value of the attribute in a new object.
    open var defaultValue: Any? { willSet { willChangeDescription() } }

    /// The default value in a model file if it is an object of a class that does not exist here, for the room that
    /// writes model files.
    package var undecodedDefaultValue: NSObject?

    /// The registered name of the transformer of a transformable attribute; `nil` means secure keyed archiving.
    open var valueTransformerName: String? { willSet { willChangeDescription() } }

    /// Whether large data may be kept in files beside the store.
    open var allowsExternalBinaryDataStorage = false { willSet { willChangeDescription() } }

    /// Whether the history keeps the value after the object is deleted.
    open var preservesValueInHistoryOnDeletion = false { willSet { willChangeDescription() } }

    /// Whether CloudKit may encrypt the value. It is kept with the model, and not used here.
    open var allowsCloudEncryption = false { willSet { willChangeDescription() } }

    /// The hash of the attribute's properties that a store must match: its name and type, whether it is optional or
    /// transient, whether its values may be kept outside the store or in the history, its derivation, its modifier, and
    /// the elements of a composite.
    open override var versionHash: Data { super.versionHash }

    /// What Core Data prints of an attribute, for logs and debuggers.
    open override var description: String { describedAttribute }

    package override func emptyCopy() -> NSPropertyDescription { NSAttributeDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        guard let copy = copy as? NSAttributeDescription else { return }
        copy.attributeType = attributeType
        copy.storedValueClassName = storedValueClassName
        copy.defaultValue = defaultValue
        copy.undecodedDefaultValue = undecodedDefaultValue
        copy.valueTransformerName = valueTransformerName
        copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        copy.allowsCloudEncryption = allowsCloudEncryption
    }
}

/// An attribute whose value the store computes from other properties when an object is saved.
open class NSDerivedAttributeDescription: NSAttributeDescription {
    /// The expression for the value: a key path, `now()`, `lowercase:(name)`, `books.@count` and similar ones.
    open var derivationExpression: NSExpression? { willSet { willChangeDescription() } }

    /// What Core Data prints of an attribute, and what its value is computed by, for logs and debuggers.
    open override var description: String {
        "\(describedAttribute), derivationExpression \(DescriptionText.value(derivationExpression))"
    }

    package override func emptyCopy() -> NSPropertyDescription { NSDerivedAttributeDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        (copy as? NSDerivedAttributeDescription)?.derivationExpression = derivationExpression
    }
}

/// An attribute made of named elements, each an attribute of its own; its value is a dictionary.
open class NSCompositeAttributeDescription: NSAttributeDescription {
    /// The elements, attributes or further composites.
    open var elements: [NSAttributeDescription] = [] {
        willSet { willChangeDescription() }
        didSet {
            for former in oldValue where former.composite === self { former.composite = nil }
            refuseCircle()
            for element in elements { element.composite = self }
        }
    }

    /// Stops the program if the attribute would be an element of itself.
    private func refuseCircle() {
        var owner: NSPropertyDescription? = self
        while let composite = owner {
            if elements.contains(where: { $0 === composite }) {
                programmerError(
                    "“\(composite.name)” cannot be an element of “\(name)”: it would be one of its own elements.")
            }
            owner = composite.composite
        }
    }

    /// Creates a composite without elements.
    public override init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    /// What Core Data prints of an attribute, and its elements, for logs and debuggers.
    open override var description: String {
        "\(describedAttribute), elements \(DescriptionText.list(elements.map { DescriptionText.quoted($0.description) }))"
    }

    package override func emptyCopy() -> NSPropertyDescription { NSCompositeAttributeDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        (copy as? NSCompositeAttributeDescription)?.elements = elements.compactMap {
            $0.copy() as? NSAttributeDescription
        }
    }
}

extension NSAttributeDescription {
    /// The type of an attribute's value, with Swift's names: `.string`, `.integer64`.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The type with the Objective-C names.
        public typealias RawValue = NSAttributeType
        /// The value with the Objective-C name.
        public let rawValue: NSAttributeType
        /// Makes the type from the value with the Objective-C name.
        ///
        /// - Parameter rawValue: the value with the Objective-C name.
        public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

        /// No type yet.
        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        /// A 16-bit signed integer.
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        /// A 32-bit signed integer.
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        /// A 64-bit signed integer.
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        /// A decimal number.
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        /// A double-precision number.
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        /// A single-precision number.
        public static let float = AttributeType(rawValue: .floatAttributeType)
        /// A string.
        public static let string = AttributeType(rawValue: .stringAttributeType)
        /// A Boolean.
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        /// A date.
        public static let date = AttributeType(rawValue: .dateAttributeType)
        /// Bytes.
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        /// A UUID.
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        /// A URL.
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        /// A value that a transformer converts to bytes.
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        /// The ID of a managed object.
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        /// A value made of named elements.
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }
}

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
