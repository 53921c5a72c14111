import Foundation

// What Core Data code uses of Objective-C's runtime by name, and what has a plain meaning without one.

/// A pointer to a variable of the caller's, by the name that overrides of
/// ``NSManagedObject/validateValue(_:forKey:)`` give it. There is no autorelease pool here, so it is the plain pointer: `&value` makes one.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

extension UnsafeMutablePointer where Pointee == AnyObject? {
    /// A pointer to a variable that always holds an object, as ``NSManagedObject/validateValue(_:forKey:)`` takes it: as one that may be empty.
    ///
    /// - Parameter variable: a pointer to the variable.
    public init(_ variable: UnsafeMutablePointer<AnyObject>) {
        // Both types are one reference, and `nil` is the one that no object has.
        self = UnsafeMutableRawPointer(variable).assumingMemoryBound(to: AnyObject?.self)
    }
}

/// Runs a block, as loops over many objects do it. Objects go here as soon as nothing refers to them, so there is no pool to empty.
///
/// - Parameter body: what to run.
/// - Returns: what the block returns.
/// - Throws: what the block throws.
@_disfavoredOverload  // Programs that run on Linux already have one of their own, which goes first.
public func autoreleasepool<Failure: Error, Result>(invoking body: () throws(Failure) -> Result) throws(Failure)
    -> Result
{
    try body()
}
