import CoreDataModel
import Foundation
import Synchronization

/// Calls the methods of a class that check one property each, such as `validateTitle(_:)`. Implemented by code that
/// CoreDataPlugin generates, since nothing finds a method by its name without the Objective-C runtime.
@_spi(GeneratedCode) public protocol NamedValidators: AnyObject, Sendable {
    /// The class with the methods.
    static var validatedClass: NSManagedObject.Type { get }

    /// Calls the method for a key, if the class has one.
    ///
    /// - Parameters:
    ///   - object: an object of the class.
    ///   - value: points to the value.
    ///   - key: the property's name, with a capital.
    /// - Returns: whether there is such a method.
    /// - Throws: what the method throws.
    static func validate(
        _ object: NSManagedObject, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forCapitalizedKey key: String
    ) throws -> Bool
}

/// The generated callers of validators, found by their names in the program's list of types.
enum ValidatorTable {
    /// Whether an object of a class has validators by name.
    static func exist(in type: NSManagedObject.Type) -> Bool {
        inProgram && !callers(of: type).isEmpty
    }

    /// Calls the validator of a property, if there is one: that of the most derived class, as a message would.
    ///
    /// - Throws: what the validator throws.
    static func validate(
        _ object: NSManagedObject, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        guard inProgram else { return }
        let capitalized = key.prefix(1).uppercased() + key.dropFirst()
        for caller in callers(of: type(of: object))
        where try caller.validate(object, value, forCapitalizedKey: capitalized) {
            return
        }
    }

    private static let prefix = "_ValidatorsOf_"

    /// Whether the program has any: most have none, and their saves look for nothing.
    private static let inProgram = ProgramClasses.modulesByClass.keys.contains { $0.hasPrefix(prefix) }

    private static let found = Mutex<[ObjectIdentifier: [any NamedValidators.Type]]>([:])

    /// The callers for a class and its superclasses, the most derived first.
    private static func callers(of type: NSManagedObject.Type) -> [any NamedValidators.Type] {
        if let known = found.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        var callers: [any NamedValidators.Type] = []
        var current: AnyClass? = type
        while let derived = current, derived != NSManagedObject.self {
            callers += ownCallers(of: derived)
            current = _getSuperclass(derived)
        }
        let all = callers
        found.withLock { $0[ObjectIdentifier(type)] = all }
        return all
    }

    /// The callers for the methods that a class and its extensions declare.
    private static func ownCallers(of type: AnyClass) -> [any NamedValidators.Type] {
        // Module.Enclosing.Class
        let path = String(reflecting: type).split(separator: ".").dropFirst()
        let name = prefix + path.joined(separator: "_")
        return ProgramClasses.modules(declaring: name)
            .compactMap { NSClassFromString("\($0).\(name)") as? any NamedValidators.Type }
            .filter { $0.validatedClass == type }
    }
}

// Names of the Objective-C runtime that Core Data code uses, and that have a plain meaning without it.

/// A pointer to a variable of the caller's, under the name that overrides of
/// ``NSManagedObject/validateValue(_:forKey:)`` use. There is no autorelease pool here, so it is a plain pointer:
/// `&value` makes one.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

extension UnsafeMutablePointer where Pointee == AnyObject? {
    /// A pointer to a variable that always holds an object, converted for ``NSManagedObject/validateValue(_:forKey:)``,
    /// which takes a pointer to an optional.
    ///
    /// - Parameter variable: a pointer to the variable.
    public init(_ variable: UnsafeMutablePointer<AnyObject>) {
        // Both types are a single reference; `nil` is the address that no object has.
        self = UnsafeMutableRawPointer(variable).assumingMemoryBound(to: AnyObject?.self)
    }
}

/// Runs a block, for loops over many objects. Objects are released here as soon as nothing refers to them, so there is
/// no pool to drain.
///
/// - Parameter body: the block.
/// - Returns: what the block returns.
/// - Throws: what the block throws.
@_disfavoredOverload  // Programs that run on Linux already have one of their own, which goes first.
public func autoreleasepool<Failure: Error, Result>(invoking body: () throws(Failure) -> Result) throws(Failure)
    -> Result
{
    try body()
}
