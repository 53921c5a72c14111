import Foundation
import Synchronization

/// Finds the class of an entity, and the entity of a class.
///
/// A model names a class with its module (`App.Person`) or without (`Person`, for `@objc(Person)`). Without the
/// Objective-C runtime a class can only be looked up with its module: the modules with record classes are learned from
/// the classes that the program uses, and then from the program's list of types.
package enum ManagedClasses {
    private struct Known {
        var modules: Set<String> = []
        /// Increases with `modules`, so that a failed look-up is tried again.
        var generation = 0
        /// The known classes, by unqualified name.
        var classes: [String: NSManagedObject.Type] = [:]
        /// The models that coordinators use, the newest last.
        var models: [WeakModel] = []
    }

    private struct WeakModel { weak var model: NSManagedObjectModel? }

    private static let known = Mutex(Known())

    /// Records a class that the program uses, and its module.
    package static func learn(_ type: NSManagedObject.Type) {
        guard type != NSManagedObject.self else { return }
        let parts = String(reflecting: type).split(separator: ".")
        guard parts.count >= 2, let module = parts.first, let name = parts.last else { return }
        known.withLock { known in
            known.classes[String(name)] = type
            if known.modules.insert(String(module)).inserted { known.generation += 1 }
        }
    }

    /// Records a model, which `NSManagedObject.entity()` searches.
    package static func learn(_ model: NSManagedObjectModel) {
        known.withLock { known in
            known.models.removeAll { $0.model == nil || $0.model === model }
            known.models.append(WeakModel(model: model))
        }
    }

    /// Increases when classes should be looked up again.
    package static var generation: Int { known.withLock { $0.generation } }

    /// The class of an entity's objects; `NSManagedObject` if it names none, or the class cannot be found.
    package static func type(for entity: NSEntityDescription) -> NSManagedObject.Type {
        let name = entity.objectClassName
        if name == "NSManagedObject" || name.isEmpty { return NSManagedObject.self }
        let plainName = name.split(separator: ".").last.map(String.init) ?? name
        if name.contains("."), !name.hasPrefix("."), let type = NSClassFromString(name) as? NSManagedObject.Type {
            return type
        }
        let (modules, seen) = known.withLock { ($0.modules, $0.classes[plainName]) }
        if let seen { return seen }
        for module in modules.sorted() + mainModule + ProgramClasses.modules(declaring: plainName) {
            if let type = NSClassFromString("\(module).\(plainName)") as? NSManagedObject.Type { return type }
        }
        return NSManagedObject.self
    }

    /// The modules in which a class is searched: those known to have record classes, the main one, and those that
    /// declare a class of that name.
    ///
    /// - Parameter plainName: the class's name without a module.
    /// - Returns: the modules' names, in the order to try them.
    static func modules(for plainName: String) -> [String] {
        known.withLock { $0.modules }.sorted() + mainModule + ProgramClasses.modules(declaring: plainName)
    }

    /// The program's module; a test bundle is named after its package, and has none.
    private static var mainModule: [String] {
        let name = ProcessInfo.processInfo.processName.replacingOccurrences(of: "-", with: "_")
        return name.contains(".") ? [] : [name]
    }

    /// Whether an entity names a class, with or without its module.
    package static func names(_ entity: EntityLayout, _ type: NSManagedObject.Type) -> Bool {
        let name = entity.description.objectClassName
        if name == String(reflecting: type) { return true }
        return !name.contains(".") && name == String(describing: type)
            || name.hasPrefix(".") && name.dropFirst() == String(describing: type)
    }

    /// The entity of a model that names a class; without one, that with its name.
    package static func entity(for type: NSManagedObject.Type, in layout: ModelLayout) -> EntityLayout? {
        learn(type)
        return entity(naming: type, in: layout) ?? entity(withNameOf: type, in: layout)
    }

    /// The entity that names a class. If several do, the one with the class's name is used.
    private static func entity(naming type: NSManagedObject.Type, in layout: ModelLayout) -> EntityLayout? {
        let candidates = layout.entities.filter { names($0, type) }
        guard candidates.count > 1 else { return candidates.first }
        let name = String(describing: type)
        return candidates.first { $0.name == name } ?? candidates.first
    }

    /// For a subclass that the model does not name: an entity of its name without a class of its own.
    private static func entity(withNameOf type: NSManagedObject.Type, in layout: ModelLayout) -> EntityLayout? {
        layout.entityByName[String(describing: type)].flatMap {
            $0.description.objectClassName == "NSManagedObject" ? $0 : nil
        }
    }

    /// The entity that names a class, in the models in use, the newest first; if none does, one with its name.
    static func entity(for type: NSManagedObject.Type) -> EntityLayout {
        learn(type)
        let models = known.withLock { $0.models.compactMap(\.model) }
        for entity in [entity(naming:in:), entity(withNameOf:in:)] {
            for model in models.reversed() {
                if let layout = try? model.compiledLayout(), let entity = entity(type, layout) { return entity }
            }
        }
        programmerError(
            "no entity of a model in use names class “\(String(reflecting: type))”. Load a model that has one (make a "
                + "coordinator or a container with it), or set the entity's managedObjectClassName.")
    }

    /// The entity with a name, in the models in use, the newest first.
    static func entity(named name: String) -> NSEntityDescription? {
        let models = known.withLock { $0.models.compactMap(\.model) }
        for model in models.reversed() {
            if let entity = model.entitiesByName[name] { return entity }
        }
        return nil
    }
}
