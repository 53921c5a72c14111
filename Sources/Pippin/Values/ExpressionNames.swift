import PredicateFormat

// Foundation has classes of these names on other platforms too, which can be neither created nor subclassed.
typealias NSExpression = PredicateFormat.NSExpression
typealias NSComparisonPredicate = PredicateFormat.NSComparisonPredicate
