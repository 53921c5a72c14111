import Foundation

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
