import Foundation

// What Core Data code uses of Objective-C's runtime by name, and what has a plain meaning without one.

/// A pointer to a variable of the caller's, by the name that overrides of
/// ``NSManagedObject/validateValue(_:forKey:)`` give it. There is no autorelease pool here, so it is the plain pointer: `&value` makes one.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

/// Runs a block, as loops over many objects do it. Objects go here as soon as nothing refers to them, so there is no pool to empty.
///
/// - Returns: what the block returns.
/// - Throws: what the block throws.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
