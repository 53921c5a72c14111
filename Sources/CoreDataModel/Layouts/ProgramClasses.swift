import CPippinRuntime
import Foundation
import ModelFiles

/// The classes that the program declares, by their plain names.
///
/// `@objc(Person)` makes a class known to Core Data as `Person`, without its module. Swift only finds classes by module
/// and name, but lists the types of a program for its own look-ups: this reads the names in that list, once. The layout
/// of the records is part of Swift's stable metadata: a record refers to a type's description, which refers to its name
/// and to the description of its enclosing context, up to the module.
package enum ProgramClasses {
    /// The modules that declare a top-level class with a name, in alphabetical order.
    package static func modules(declaring name: String) -> [String] { modulesByClass[name] ?? [] }

    /// The classes that a type names, such as `[String: App.Route]`: those with a module that exists, and those of that
    /// plain name.
    ///
    /// Models name classes as the developer wrote them, `Route` or, for the model's own module, `.Route`.
    static func classes(namedIn type: String) -> [AnyClass] {
        var classes: [AnyClass] = []
        _ = type.mapTypeNames { name in
            let parts = name.split(separator: ".")
            let plain = parts.last.map(String.init) ?? name
            if parts.count < 3, !name.hasPrefix("."), let exact = NSClassFromString(name) {
                classes.append(exact)
            } else {
                classes += modules(declaring: plain).compactMap { NSClassFromString("\($0).\(plain)") }
            }
            return name
        }
        return classes
    }

    /// The modules by the names of their classes.
    package static let modulesByClass: [String: [String]] = {
        var modules: [String: Set<String>] = [:]
        #if os(Linux) || os(Android)
            let end = endOfTypeRecords()
            var record = firstTypeRecord()
            while record < end {
                if let type = TypeDescription(record: record), let name = type.className, let parent = type.parent,
                    let module = parent.moduleName
                {
                    modules[name, default: []].insert(module)
                }
                record += MemoryLayout<Int32>.size
            }
        #endif
        return modules.mapValues { $0.sorted() }
    }()
}

/// The compiler's description of a type or of a module, in the program's memory.
///
/// Unsafe: it reads data written by the compiler. Later compilers keep the layout, since it is part of the stable ABI.
/// It begins with flags and the offset of the enclosing context's description; a name follows.
private struct TypeDescription {
    private let address: UnsafeRawPointer

    /// - Returns: `nil` for a record that is not a Swift type's.
    init?(record: UnsafeRawPointer) {
        let offset = record.load(as: Int32.self)
        // The two lowest bits say whether the offset leads to the description, or to a pointer to it.
        switch offset & 3 {
        case 0: self.init(address: record + Int(offset & ~3))
        case 1: self.init(address: (record + Int(offset & ~3)).load(as: UnsafeRawPointer?.self))
        default: return nil
        }
    }

    private init?(address: UnsafeRawPointer?) {
        guard let address else { return nil }
        self.address = address
    }

    /// The lowest five bits of the flags.
    private var kind: UInt32 { address.load(as: UInt32.self) & 0x1F }

    /// The name, if this is a class.
    var className: String? { kind == 16 ? name : nil }

    /// The name, if this is a module.
    var moduleName: String? { kind == 0 ? name : nil }

    private var name: String {
        let field = address + 8
        return String(cString: (field + Int(field.load(as: Int32.self))).assumingMemoryBound(to: CChar.self))
    }

    /// The enclosing context.
    var parent: TypeDescription? {
        let field = address + 4
        let offset = field.load(as: Int32.self)
        guard offset != 0 else { return nil }
        // The lowest bit says whether the offset leads to the description, or to a pointer to it.
        let target = field + Int(offset & ~1)
        return TypeDescription(address: offset & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self))
    }
}
