import Foundation

/// Lets generic code make objects by `T(context:)` and `T(entity:insertInto:)`.
///
/// Swift calls initializers of a class that is only known at run time when they are `required`, and makes an exception for classes that
/// come from Objective-C. These two cannot be `required`, since subclasses declare their own without saying so; an initializer of a
/// protocol is found instead.
public protocol ManagedObjectMaking {}

extension NSManagedObject: ManagedObjectMaking {}

extension ManagedObjectMaking where Self: NSManagedObject {
    /// Creates an object of an entity, and inserts it into a context.
    ///
    /// - Parameters:
    ///   - entity: what the object is to be; must not be abstract.
    ///   - context: where to insert it; `nil` makes an object without a context, for `insert(_:)` later.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        self = NSManagedObject.make(Self.self, entity, context)
    }

    /// Creates an object of the entity that names the class, and inserts it into a context.
    ///
    /// - Parameter moc: where to insert it; its model must have exactly one entity for the class.
    public init(context moc: NSManagedObjectContext) { self.init(materializedIn: moc) }
}

extension NSManagedObject {
    /// The compiled form of an entity, which is frozen if it was not in use.
    static func layout(of entity: NSEntityDescription) -> EntityLayout {
        if let layout = entity.layout { return layout }
        programmerError(
            "entity “\(entity.name ?? "")” cannot be used: it belongs to no model, or its model is not complete")
    }

    fileprivate static func make<Object: NSManagedObject>(
        _ type: Object.Type, _ entity: NSEntityDescription, _ context: NSManagedObjectContext?
    ) -> Object {
        let object: NSManagedObject
        if type != NSManagedObject.self, let layout = entity.layout, !layout.isAbstract {
            object =
                context?.makeNewObject(of: type, entity: layout)
                ?? NSManagedObjectContext.makeUninsertedObject(of: type, entity: layout)
        } else {
            // An object without a class of its own; or an entity that none can be made of, which is said there.
            object = NSManagedObject(entity: entity, insertInto: context)
        }
        guard let object = object as? Object else {
            programmerError("an object of entity “\(entity.name ?? "")” is no \(type)")
        }
        return object
    }
}
