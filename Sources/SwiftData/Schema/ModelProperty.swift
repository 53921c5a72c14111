import CoreData
import Observation

/// A persisted property of a model class.
final class ModelProperty: @unchecked Sendable {
    // @unchecked Sendable: immutable; key paths and default values are only read.
    enum Kind {
        case attribute(AttributeShape)
        case toOne(any PersistentModel.Type)
        case toMany(any PersistentModel.Type)
    }

    let name: String
    let number: Int
    let keyPath: AnyKeyPath
    let kind: Kind
    /// The type of the property, with its optionality.
    let valueType: Any.Type
    let isOptional: Bool
    let defaultValue: Any?
    /// What `@Attribute` or `@Relationship` says of it.
    let metadata: (any SchemaProperty)?
    /// Converts the values of an attribute: a `ValueCoding` of the property's type.
    let coding: AnyObject?
    /// Tells the observers of a model that the property changes.
    let notify: (any PersistentModel) -> Void
    /// Why the property cannot be kept in a store; nil if it can.
    let problem: String?

    init(_ metadata: Schema.PropertyMetadata, number: Int) {
        name = metadata.name
        self.number = number
        keyPath = metadata.keypath
        valueType = Swift.type(of: metadata.keypath).valueType
        let wrapped = optionalContent(of: valueType)
        isOptional = wrapped != nil
        defaultValue = metadata.defaultValue
        self.metadata = metadata.metadata
        let content = wrapped ?? valueType
        if let model = content as? any PersistentModel.Type {
            kind = .toOne(model)
            coding = nil
        } else if let collection = content as? any RelationshipCollection.Type {
            kind = .toMany(Self.element(of: collection))
            coding = nil
        } else {
            let shape = Schema.Attribute.shape(
                of: content, name: metadata.name, metadata.metadata as? Schema.Attribute)
            kind = .attribute(shape)
            coding = ValueCodings.coding(of: valueType, shape)
        }
        problem = Self.problem(kind, coding, valueType)
        notify = Self.notifier(metadata.keypath)
    }

    private static func problem(_ kind: Kind, _ coding: AnyObject?, _ type: Any.Type) -> String? {
        guard case .attribute(let shape) = kind else { return nil }
        if coding == nil {
            return "is of the type \(type), which is not Codable. Let it conform to Codable, or mark it @Transient."
        }
        guard case .transformable(let name?) = shape, ValueTransformer(forName: NSValueTransformerName(name)) == nil
        else { return nil }
        return
            "needs the transformer “\(name)”, which is not registered. Call ValueTransformer.setValueTransformer first."
    }

    var isRelationship: Bool { if case .attribute = kind { false } else { true } }

    var isToMany: Bool { if case .toMany = kind { true } else { false } }

    /// Whether only the program can make a value to show: one of a transformer, which is neither optional nor has an
    /// initial value.
    var needsValue: Bool {
        guard case .attribute(.transformable) = kind else { return false }
        return !isOptional && defaultValue == nil
    }

    /// The class at the other end of a relationship.
    var destination: (any PersistentModel.Type)? {
        switch kind {
        case .attribute: nil
        case .toOne(let model), .toMany(let model): model
        }
    }

    private static func element<Collection: RelationshipCollection>(
        of type: Collection.Type
    ) -> any PersistentModel.Type { Collection.PersistentElement.self }

    /// The types of a key path are known here only at run time.
    private static func notifier(_ keyPath: AnyKeyPath) -> (any PersistentModel) -> Void {
        guard let root = Swift.type(of: keyPath).rootType as? any PersistentModel.Type else { return { _ in } }
        return notifier(keyPath, root)
    }

    private static func notifier<Root: PersistentModel>(
        _ keyPath: AnyKeyPath, _ root: Root.Type
    ) -> (any PersistentModel) -> Void {
        func typed<Value>(_ type: Value.Type) -> (any PersistentModel) -> Void {
            guard let keyPath = keyPath as? KeyPath<Root, Value> else { return { _ in } }
            return { model in
                guard let model = model as? Root else { return }
                model._$observationRegistrar.willSet(model, keyPath: keyPath)
                model._$observationRegistrar.didSet(model, keyPath: keyPath)
            }
        }
        return _openExistential(Swift.type(of: keyPath).valueType, do: typed)
    }
}

#if compiler(<6.2)
    /// Before Swift 6.2 the metatype of every type can be sent.
    public typealias SendableMetatype = Any
#endif

/// A class whose objects are kept in a store. `@Model` makes one of a class.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    /// The class at the top of the inheritance tree.
    associatedtype Root: PersistentModel = Self

    /// Creates a model that shows backing data.
    ///
    /// - Parameter backingData: the values.
    init(backingData: any BackingData<Self>)

    /// The values of the model.
    var persistentBackingData: any BackingData<Self> { get set }

    /// The persisted properties that the class itself declares.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }

    /// Knows the observers of the model, which changes that come from elsewhere reach through it.
    var _$observationRegistrar: ObservationRegistrar { get }
}

/// A property of an entity.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
    /// The name.
    var name: String { get set }
    /// The name in the previous version of the schema; the name itself if it is the same.
    var originalName: String { get set }
    /// The type of the values.
    var valueType: any Any.Type { get set }
    /// Whether it is an attribute.
    var isAttribute: Bool { get }
    /// Whether it is a relationship.
    var isRelationship: Bool { get }
    /// Whether it is not kept in the store.
    var isTransient: Bool { get }
    /// Whether it may have no value.
    var isOptional: Bool { get }
    /// Whether no two models have the same value.
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// Whether it is an attribute: `false`.
    public var isAttribute: Bool { false }
    /// Whether it is a relationship: `false`.
    public var isRelationship: Bool { false }
    /// Whether it is not kept in the store: `false`.
    public var isTransient: Bool { false }
    /// Whether it may have no value: whether its type is optional.
    public var isOptional: Bool { optionalContent(of: valueType) != nil }
}

/// What attributes and relationships have in common, coded among their other values.
struct PropertyFacts<Option: Codable & Equatable>: Codable, Equatable {
    var name: String
    var originalName: String
    var options: [Option]
    var valueType: CodedType
    var hashModifier: String?

    /// The keys are Apple's, as public code reads them in a schema's JSON.
    private enum CodingKeys: String, CodingKey {
        case name, originalName, options, hashModifier
        case valueType = "valueTypeName"
    }
}

/// A type as its mangled name, from which the program that has the type finds it again.
struct CodedType: Codable, Equatable {
    let type: Any.Type

    static func == (left: CodedType, right: CodedType) -> Bool { left.type == right.type }

    init(_ type: Any.Type) { self.type = type }

    init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        guard let type = _typeByName(name) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "The program has no type with the name “\(name)”."
                ))
        }
        self.type = type
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(_mangledTypeName(type) ?? "\(type)")
    }
}
