"""The imperfective paradox: does a model complete the stories that a progressive leaves open?"""
