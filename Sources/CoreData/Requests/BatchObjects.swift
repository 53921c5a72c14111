/// The objects that a batch insertion hands out, one at a time, in a private context.
///
/// An object that the program did not keep is reset and handed out again: making one costs more than writing its row.
struct BatchObjects {
    private let entity: EntityLayout
    private let context: NSManagedObjectContext
    private var latest: NSManagedObject?
    private var isReusable = false

    init(_ entity: EntityLayout, in context: NSManagedObjectContext) {
        self.entity = entity
        self.context = context
    }

    /// An object with the entity's defaults, and the changes that its class makes on insertion.
    mutating func next() -> NSManagedObject {
        if isReusable, isKnownUniquelyReferenced(&latest), let latest {
            latest.becomeNew()
            return latest
        }
        if let latest { context.forget(latest) }
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context)
        context.unlistChanges()
        if latest == nil { isReusable = !Self.hasStoredProperties(object) }
        latest = object
        return object
    }

    /// Whether the object's class has stored properties of its own, which only the class itself could reset.
    private static func hasStoredProperties(_ object: NSManagedObject) -> Bool {
        var mirror: Mirror? = Mirror(reflecting: object)
        while let level = mirror, level.subjectType != NSManagedObject.self {
            if !level.children.isEmpty { return true }
            mirror = level.superclassMirror
        }
        return false
    }
}
