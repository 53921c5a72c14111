import Foundation

/// The value of a property that is not optional and has none: zero, or an empty collection.
///
/// This includes Foundation's classes: with the Objective-C runtime such a property is a reference to nil, which
/// returns zero from messages, and programs that declare `NSDate` instead of `Date` rely on that.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func emptyValue<Value>() -> Value? {
    switch Value.self {
    case let type as any RangeReplaceableCollection.Type: type.init() as? Value
    case let type as any SetAlgebra.Type: type.init() as? Value
    case let type as any ExpressibleByDictionaryLiteral.Type: emptyDictionary(type) as? Value
    case let type as any Numeric.Type: type.init(exactly: 0) as? Value
    case let type as NSObject.Type: emptyObject(type) as? Value
    default: nil
    }
}

private func emptyDictionary<Dictionary: ExpressibleByDictionaryLiteral>(_ type: Dictionary.Type) -> Dictionary {
    type.init()
}

/// The object of a Foundation class that represents zero or an empty value; `nil` for other classes.
private func emptyObject(_ type: NSObject.Type) -> NSObject? {
    if type == NSDate.self { return NSDate(timeIntervalSince1970: 0) }
    if type == NSNumber.self { return NSNumber(value: 0) }
    if type == NSDecimalNumber.self { return NSDecimalNumber.zero }
    if type == NSString.self { return NSString() }
    if type == NSData.self { return NSData() }
    if type == NSArray.self { return NSArray() }
    if type == NSDictionary.self { return NSDictionary() }
    if type == NSSet.self { return NSSet() }
    if type == NSOrderedSet.self { return NSOrderedSet() }
    return nil
}
