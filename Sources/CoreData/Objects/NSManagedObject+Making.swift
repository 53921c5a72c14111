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
            programmerError("an object of entity “\(entity.name ?? "")” is no \(type)")
        }
        return object
    }
}
