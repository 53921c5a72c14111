import PredicateFormat

// Foundation has a class with this name, too, which can be neither created nor subclassed here.
package typealias NSExpression = PredicateFormat.NSExpression
