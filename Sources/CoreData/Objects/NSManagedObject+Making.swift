import Foundation

/// Lets generic code make objects with `T(context:)` and `T(entity:insertInto:)`.
///
/// Swift only calls initializers of a class known at run time if they are `required`, except for classes imported from
/// Objective-C. These two cannot be `required`, since subclasses declare their own without that keyword; an initializer
/// of a protocol is used instead.
public protocol ManagedObjectMaking {}

extension NSManagedObject: ManagedObjectMaking {}

extension ManagedObjectMaking where Self: NSManagedObject {
    /// Creates an object of an entity, and inserts it into a context.
    ///
    /// - Parameters:
    ///   - entity: the entity of the object. It may be abstract: that only says what is intended.
    ///   - context: the context to insert it into; `nil` makes an object without a context, for `insert(_:)` later.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        self = NSManagedObject.make(Self.self, entity, context)
    }

    /// Creates an object of the entity that names the class, and inserts it into a context.
    ///
    /// - Parameter moc: the context to insert it into; its model must have exactly one entity for the class.
    public init(context moc: NSManagedObjectContext) { self.init(materializedIn: moc) }
}

extension NSManagedObject {
    /// The compiled form of an entity, which is frozen unless it was in use already.
    static func layout(of entity: NSEntityDescription) -> EntityLayout {
        if let layout = entity.layout { return layout }
        programmerError(
            "entity “\(entity.name ?? "")” cannot be used: it belongs to no model, or its model is not complete")
    }

    fileprivate static func make<Object: NSManagedObject>(
        _ type: Object.Type, _ entity: NSEntityDescription, _ context: NSManagedObjectContext?
    ) -> Object {
        let object: NSManagedObject
        if type != NSManagedObject.self, let layout = entity.layout {
            object =
                context?.makeNewObject(of: type, entity: layout)
                ?? NSManagedObjectContext.makeUninsertedObject(of: type, entity: layout)
        } else {
            // An object without a class of its own; or of an entity without a layout, which the initializer reports.
            object = NSManagedObject(entity: entity, insertInto: context)
        }
        guard let object = object as? Object else {
            programmerError("an object of entity “\(entity.name ?? "")” is not of type \(type)")
        }
        return object
    }
}

extension NSManagedObject {
    /// Class and address, entity, ID and values, in Core Data's form. Nothing is read from a store for it.
    final func describedValues() -> String {
        "\(DescriptionText.head(of: self)) (entity: \(layout.name); id: \(Self.text(of: identifier)); "
            + "data: \(isFault && values.isEmpty ? "<fault>" : describedProperties()))"
    }

    private func describedProperties() -> String {
        var lines: [(key: String, text: String)] = layout.slots.indices.map { slot in
            (layout.slots[slot].name, DescriptionText.quoted(describedValue(at: slot)))
        }
        lines += layout.toManys.map { ($0.name, describedMembers($0)) }
        let data = lines.sorted { $0.key < $1.key }.map { "    \(DescriptionText.quoted($0.key)) = \($0.text);\n" }
        return "{\n\(data.joined())}"
    }

    private func describedValue(at slot: Int) -> String {
        switch layout.slots[slot].kind {
        case .attribute(let attribute):
            return values[slot].objectValue(for: attribute).map { UnacceptableValue.text(of: $0) } ?? "nil"
        case .toOne:
            guard case .identifier(let identifier) = values[slot] else { return "nil" }
            return Self.text(of: identifier)
        }
    }

    private func describedMembers(_ relationship: RelationshipLayout) -> String {
        let members = toManyMembersIfAny(relationship)
        // A new object has no members in a store.
        guard members?.isLoaded ?? state.contains(.inserted) else {
            return DescriptionText.quoted("<relationship fault: '\(relationship.name)'>")
        }
        let all = members?.all ?? []
        let objects = relationship.isOrdered ? all : Self.inOrder(all)
        let identifiers = objects.map { "\n        \(DescriptionText.quoted(Self.text(of: $0.identifier)))" }
        return "(\(identifiers.joined(separator: ","))\n    )"
    }

    /// The ID's address and URI.
    private static func text(of identifier: NSManagedObjectID) -> String {
        "0x\(String(UInt(bitPattern: ObjectIdentifier(identifier)), radix: 16)) <\(identifier.description)>"
    }
}

extension NSManagedObject {
    /// The attributes whose values are stored outside the store in files that cannot be read, by name.
    ///
    /// Such a property is `nil`, which a warning on standard error reports once for each context; the stored value
    /// stays as it is until another value is set. Core Data has no such property; it raises an exception.
    public var missingExternalData: [String: URL] {
        var files: [String: URL] = [:]
        for slot in layout.slots.indices where layout.slots[slot].attribute?.allowsExternalStorage == true {
            if let missing = storedValue(at: slot).missingExternalData { files[layout.slots[slot].name] = missing.file }
        }
        return files
    }

    /// Reports that a property is shown without its value.
    @inline(never)
    final func reportMissing(_ missing: MissingExternalData, at slot: Int) {
        guard let context = storedContext, context.readFailures.report(missing.file.path) else { return }
        context.report(
            "“\(layout.name).\(layout.slots[slot].name)” of \(identifier.description) is shown without a value",
            StoreError.make(CocoaError.Code.fileReadNoSuchFile.rawValue, missing.sentence, url: missing.file))
    }
}
