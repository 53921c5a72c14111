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
